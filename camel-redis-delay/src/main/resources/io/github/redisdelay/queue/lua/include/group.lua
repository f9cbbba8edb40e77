-- Included where messages with a group are stored, moved or removed, after queue.lua, member.lua, page.lua and wakeup.lua.
--
-- A group has so many places as `config` says. Its messages in `delayed` and `leased` have one each; all others are parked, so a
-- claim meets none that it may not give. A message that has failed keeps its place while it is delayed. A new one that has no place
-- is parked at once. Each call notes the groups of which it moves or removes messages, and brings them into line at its end: what has
-- no place is parked, a free place goes to the first parked message, and one that is due before a delayed message that was never
-- begun changes places with it.

-- The groups that this call has changed; or that messages have only left; or of which it checks whether who has a place is there. And
-- true once `config` says that the queue has groups.
local group_changed, GROUP_LEFT, GROUP_CHECKED, group_needed = {}, 'left', 'checked', nil
--@include gate.lua
-- The level of parked messages, see queue_delayed_set. So many members of a group are read or moved at once. Up to so many places, those
-- that have them are read, not counted. Once so many messages have moved, a call leaves others to the walk of repair.lua and to claims.
local GROUP_PARKED, GROUP_MOST, GROUP_FEW, GROUP_MOVES = 10, 256, 8, 4096

-- Returns the members that a message may have in the index: with a place, with one that it keeps, and parked.
local function group_members(group, id)
  local due = redis.call('ZSCORE', key_delayed, id) or redis.call('ZSCORE', queue_delayed_set(10), id)
  local record = not due and redis.call('HGET', key_state, id)
  due = tonumber(due) or record_read(record, record and 0 or record_time(redis.call('HGET', key_messages, id), 9) or 0, 0, id).due
  return { member_make(group, MEMBER_PLACE, id, due), member_make(group, MEMBER_PLACE, id, MEMBER_KEPT),
    member_make(group, MEMBER_PARKED, id, due) }
end

-- Removes a message from the index, if it has a group. Comes before it leaves its set.
local function group_leave(group, id)
  if group then
    redis.call('ZREM', queue_delayed_set(11), unpack(group_members(group, id)))
    group_changed[group] = group_changed[group] or GROUP_LEFT
  end
end

-- Puts a message that waits into the index, if it has a group. With a level has it wait, or parks it, in place of the other.
local function group_put(group, id, due, level)
  if group then
    group_needed = group_needed or not member_need(CHECK_GROUPS)
    redis.call('ZADD', queue_delayed_set(11), 0, member_make(group, level == 10 and MEMBER_PARKED or MEMBER_PLACE, id, due))
    if level then
      redis.call('ZADD', queue_delayed_set(level), due, id)
      redis.call('ZREM', queue_delayed_set(10 - level), id)
    end
    group_changed[group] = true
  end
end

-- Returns up to so many of the last members of a group with a place that were never begun, and that are behind an order. Looks at the
-- last few, or at 4096.
local function group_last(group, most, order, few)
  local prefix, last, new, pages = group .. '\0', group .. '\0' .. MEMBER_PARKED, {}, 0
  repeat
    local found = redis.call('ZRANGE', queue_delayed_set(11), '(' .. last, '(' .. prefix .. MEMBER_PLACE .. order, 'BYLEX', 'REV', 'LIMIT',
      '0', few or GROUP_MOST)
    for _, member in ipairs(gate_new(group, found, most - #new)) do
      new[#new + 1] = member
    end
    last, pages = found[GROUP_MOST], pages + 1
  until few or not last or #new >= most or pages == 16
  return new
end

-- Puts a message that is stored anew into the index, if it has a group. Returns the level of the set in which it waits: where others
-- have all places, that of parked ones, unless a delayed one is due later.
local function group_add(group, id, due, level)
  if group then
    group_needed = group_needed or not member_need(CHECK_GROUPS)
    local index, limits, prefix = queue_delayed_set(11), queue_priorities.limits, group .. '\0'
    local head, own = prefix .. MEMBER_PARKED, struct.pack('>d', due) .. id
    local full = not limits and redis.call('ZLEXCOUNT', index, '[' .. prefix, '(' .. head) >= queue_places
    -- Of a full group those due later that were never begun; else parked ones, as after a change of the limit.
    local from, to = full and prefix .. MEMBER_PLACE .. own or head, full and head or prefix .. '\255'
    local behind = limits or redis.call('ZLEXCOUNT', index, '(' .. from, '(' .. to) > 0
      and (not full or group_last(group, 1, own, GROUP_FEW)[1])
    level = full and not behind and GROUP_PARKED or level
    redis.call('ZADD', index, '0', prefix .. (level == GROUP_PARKED and MEMBER_PARKED or MEMBER_PLACE) .. own)
    group_changed[group] = behind and true or group_changed[group]
  end
  return level
end

-- Tells whether a message of a group is where the index says. Evicted and deleted keys leave entries behind, and an id may be used
-- again, in another group, too.
local function group_has(group, member)
  local kind, due, id = member_parts(member, group)
  local parked = kind == MEMBER_PARKED
  local score = tonumber(redis.call('ZSCORE', queue_delayed_set(parked and 10 or 0), id))
  local lease = not score and redis.call('ZSCORE', key_leased, id)
  if parked and not (score or lease) then
    -- If the set was lost, its messages are delayed again from here.
    score = tonumber(redis.call('ZSCORE', key_delayed, id)) or due
  end
  local its_group, recorded = member_group(id)
  local there = score and (score == due or not parked and due == MEMBER_KEPT) or not parked and lease
    and (due == MEMBER_KEPT or due == (record_time(redis.call('HGET', key_state, id), 25) or due))
  return due and there and its_group == group and (not recorded or redis.call('HEXISTS', key_messages, id) == 1)
end

-- Moves messages into the set of a level. Adds the groups that need another look.
local function group_move(level, members, groups, again)
  local index, kind = queue_delayed_set(11), '\0' .. (level == 10 and MEMBER_PARKED or MEMBER_PLACE)
  local dues, ids, added, moved, set, n, _ = {}, {}, {}, {}, {}, 0, nil
  for i = 1, #members do
    _, dues[i], ids[i] = member_parts(members[i], groups[i])
  end
  local scores = redis.call('ZMSCORE', queue_delayed_set(10 - level), unpack(ids))
  local others, leases = redis.call('ZMSCORE', queue_delayed_set(level), unpack(ids)), redis.call('ZMSCORE', key_leased, unpack(ids))
  for i = 1, #members do
    local group, due = groups[i], dues[i]
    -- Where others have damaged nothing, the sets say so.
    if due and tonumber(scores[i]) == due and not others[i] and not leases[i] or group_has(group, members[i]) then
      added[2 * n + 1], added[2 * n + 2] = '0', group .. kind .. string.sub(members[i], #group + 3)
      set[2 * n + 1], set[2 * n + 2] = scores[i] or due, ids[i]
      n = n + 1
      moved[n] = ids[i]
    else
      again[group] = true
    end
  end
  if n > 0 then
    group_needed = group_needed or not member_need(CHECK_GROUPS)
    redis.call('ZADD', index, unpack(added))
    redis.call('ZADD', queue_delayed_set(level), unpack(set))
    redis.call('ZREM', queue_delayed_set(10 - level), unpack(moved))
  end
  redis.call('ZREM', index, unpack(members))
end

-- Notes members of a group that move.
local function group_note(moves, group, found)
  for i = 1, #found do
    local n = #moves[1] + 1
    moves[1][n], moves[2][n] = found[i], group
  end
end

-- Notes which messages of a group move so that it comes into line: the first parked ones, the last delayed ones, or as many of both.
-- Returns whether it needs another look after that.
local function group_choose(group, how, joins, leaves, moved)
  local index, prefix, limits = queue_delayed_set(11), group .. '\0', queue_priorities.limits
  if how == GROUP_LEFT and queue_places <= GROUP_FEW and not limits then
    -- Of the first members, as many as there are places, those that are parked have none.
    local found = redis.call('ZRANGE', index, '[' .. prefix, '(' .. prefix .. '\255', 'BYLEX', 'LIMIT', '0',
      queue_places == 1 and '1' or queue_places)
    while found[1] and string.sub(found[1], #prefix + 1, #prefix + 1) ~= MEMBER_PARKED do
      table.remove(found, 1)
    end
    return group_note(joins, group, found)
  end
  local head, places = prefix .. MEMBER_PARKED, limits and gate_places(group) or queue_places
  local taken = redis.call('ZLEXCOUNT', index, '[' .. prefix, '(' .. head)
  local function first_parked(most)
    return redis.call('ZRANGE', index, '[' .. head, '(' .. prefix .. '\255', 'BYLEX', 'LIMIT', '0', most)
  end
  local most = moved + #joins[1] + #leaves[1] < GROUP_MOVES and GROUP_MOST or 1
  local first = first_parked(math.max(1, math.min(places - taken, most)))
  if #first == 0 and taken <= places then
    return
  end
  -- Others wait, so that a place is looked for that nobody has: of many, eight are looked at.
  local some = how == GROUP_CHECKED and taken == places and redis.call('ZRANGE', index, '[' .. prefix, '(' .. head, 'BYLEX', 'LIMIT',
    clock_now % math.max(1, taken - 7), 8) or {}
  for i = 1, #some do
    if not group_has(group, some[i]) then
      taken = taken - redis.call('ZREM', index, some[i])
    end
  end
  local last = taken > places and group_last(group, math.min(taken - places, most), '') or {}
  first = taken > places and {} or first
  if taken == places then
    -- As many change places as are due before the others.
    last = group_last(group, most, string.sub(first[1], #head + 1))
    first = #last > 1 and first_parked(#last) or first
    local n = math.min(#first, #last)
    while n > 0 and not page_is_before(string.sub(first[n], #head + 1), string.sub(last[n], #head + 1)) do
      n = n - 1
    end
    first, last = { unpack(first, 1, n) }, { unpack(last, 1, n) }
  end
  group_note(joins, group, first)
  group_note(leaves, group, last)
  -- A place that was left is taken by the first one, which needs no further look.
  return #last > 0 or #first > 0 and (how ~= GROUP_LEFT or #first == most) or nil
end

-- Mends what others have damaged, a bit with each call, after its first write: without the index all parked messages are delayed,
-- so that claims put them there again; the groups of the first parked message and of any are brought into line; and of the delayed
-- messages the last one, and any, are due as their records say if they waited for a pause that was lost.
local function group_mend()
  if redis.call('ZCARD', queue_delayed_set(11)) < redis.call('ZCARD', queue_delayed_set(10)) then
    -- Without the configuration, too, an id that is parked may have been used again.
    for _, id in ipairs(redis.call('ZRANGE', queue_delayed_set(10), 0, -1)) do
      redis.call('ZREM', queue_delayed_set(10), (redis.call('ZSCORE', key_leased, id) or not member_group(id)) and id or '')
    end
    group_needed = not member_need(CHECK_GROUPS)
    redis.call('ZUNIONSTORE', key_delayed, 2, key_delayed, queue_delayed_set(10), 'AGGREGATE', 'MIN')
    redis.call('ZREMRANGEBYSCORE', queue_delayed_set(10), '-inf', '+inf')
  end
  local any, first = redis.call('ZRANDMEMBER', queue_delayed_set(11)), redis.call('ZRANGE', queue_delayed_set(10), 0, 0)[1]
  any, first = any and string.match(any, '^[^%z]+'), first and member_group(first)
  group_changed[any or ''], group_changed[first or ''] = any and GROUP_CHECKED, first and GROUP_CHECKED
  for _, id in ipairs({ redis.call('ZRANDMEMBER', key_delayed) or nil, redis.call('ZRANGE', key_delayed, -1, -1)[1] }) do
    local group = queue_priorities.limits and member_group(id)
    local _ = group and gate_read(group) or gate_forget(id)
  end
end

-- Brings all groups that were changed into line, and wakes a consumer if something is due earlier than before the call, which
-- nobody knows, or has been due for so long that whoever promised to come must have died.
local function group_end(base, now, before)
  -- Some are parked, or were, if that set was lost.
  local parked = queue_places and next(group_changed) and (redis.call('ZCARD', queue_delayed_set(10)) > 0
    or redis.call('ZCARD', queue_delayed_set(11)) > redis.call('ZCARD', key_delayed) + redis.call('ZCARD', key_leased))
  local groups, moved = queue_places and group_changed or {}, 0
  repeat
    local joins, leaves, again = { {}, {} }, { {}, {} }, {}
    for group, how in pairs(groups) do
      -- A place that is left is wanted by parked messages only.
      again[group] = (parked or how ~= GROUP_LEFT) and group_choose(group, how, joins, leaves, moved) or nil
    end
    for level, moves in pairs({ [0] = joins, [10] = leaves }) do
      for i = 1, #moves[1], GROUP_MOST do
        local to = math.min(i + GROUP_MOST - 1, #moves[1])
        group_move(level, { unpack(moves[1], i, to) }, { unpack(moves[2], i, to) }, again)
      end
    end
    groups, parked, moved = again, true, moved + #joins[1] + #leaves[1]
  until not next(groups) or moved >= GROUP_MOVES
  group_changed = {}
  local first = base and (queue_places or queue_priorities.limits) and not queue_paused and queue_first_due()
  if first and (not before or first < before or before < now - WAKEUP_OVERDUE_MICROS) then
    wakeup_write(wakeup_waiters, (wakeup_cover(wakeup_waiters, base, first, now)))
  end
end
