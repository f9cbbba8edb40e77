-- Included where messages with a group are stored, moved or removed, after queue.lua, member.lua, page.lua and wakeup.lua.
--
-- A group has so many places as `config` says. Its messages in `delayed` and `leased` have one each; all others are parked, so a
-- claim meets none that it may not give. A message that has failed keeps its place while it is delayed. A new one that has no place
-- is parked at once. Each call notes the groups of which it moves or removes messages, and brings them into line at its end: what has
-- no place is parked, a free place goes to the first parked message, and one that is due before a delayed message that was never
-- begun changes places with it.

-- The groups that this call has changed; or that messages have only left; or of which it checks whether who has a place is
-- there. And true once `config` says that the queue has groups.
local group_changed, GROUP_LEFT, GROUP_CHECKED, group_needed = {}, 'left', 'checked', nil
--@include gate.lua
-- Their place among the sets of delayed messages, see queue_delayed_set.
local GROUP_PARKED = 10

-- Removes a message from the index, if it has a group. Comes before it leaves its set.
local function group_leave(group, id)
  if group then
    local due, parked = redis.call('ZSCORE', key_delayed, id), redis.call('ZSCORE', queue_delayed_set(10), id)
    redis.call('ZREM', queue_delayed_set(11), member_make(group, MEMBER_PLACE, id),
      due and member_make(group, MEMBER_DELAYED, id, tonumber(due)) or '',
      parked and member_make(group, MEMBER_PARKED, id, tonumber(parked)) or '')
    group_changed[group] = group_changed[group] or GROUP_LEFT
  end
end

-- Puts a message that waits into the index, if it has a group. With a level has it wait, or parks it, in place of the other.
local function group_put(group, id, due, level)
  if group then
    group_needed = group_needed or not member_need(CHECK_GROUPS)
    redis.call('ZADD', queue_delayed_set(11), 0, member_make(group, level == 10 and MEMBER_PARKED or MEMBER_DELAYED, id, due))
    if level then
      redis.call('ZADD', queue_delayed_set(level), due, id)
      redis.call('ZREM', queue_delayed_set(10 - level), id)
    end
    group_changed[group] = true
  end
end

-- Puts a message that is stored anew into the index, if it has a group. Returns the level of the set in which it waits: where others
-- have all places, that of parked ones, unless a delayed one is due later.
local function group_add(group, id, due, level)
  if group then
    group_needed = group_needed or not member_need(CHECK_GROUPS)
    local index, limits, delayed = queue_delayed_set(11), queue_priorities.limits, group .. '\0' .. MEMBER_DELAYED
    local head, own = group .. '\0' .. MEMBER_PARKED, struct.pack('>d', due) .. id
    local full = not limits and redis.call('ZLEXCOUNT', index, '[' .. group .. '\0', '(' .. head) >= queue_places
    -- Of a full group those due later; else parked ones, as after a change of the limit.
    local from, to = full and delayed .. own or head, full and head or group .. '\0\255'
    local behind = limits or redis.call('ZLEXCOUNT', index, '(' .. from, '(' .. to) > 0
    level = full and not behind and GROUP_PARKED or level
    redis.call('ZADD', index, '0', (level == GROUP_PARKED and head or delayed) .. own)
    group_changed[group] = behind or group_changed[group]
  end
  return level
end

-- Tells whether a message of a group is where the index says. Evicted and deleted keys leave entries behind, and an id may be used
-- again, in another group, too.
local function group_has(group, one)
  local parked = one.kind == MEMBER_PARKED
  local due = tonumber(redis.call('ZSCORE', queue_delayed_set(parked and 10 or 0), one.id))
  local lease = not due and redis.call('ZSCORE', key_leased, one.id)
  if parked and not (due or lease) then
    -- If the set was lost, its messages are delayed again from here.
    due = tonumber(redis.call('ZSCORE', key_delayed, one.id)) or one.due
  end
  local its_group, recorded = member_group(one.id)
  return (one.due or due or lease) and due == (one.due or due) and its_group == group
    and (not recorded or redis.call('HEXISTS', key_messages, one.id) == 1)
end

-- Notes which messages of a group move so that it comes into line: the first parked one, the last delayed one, or both.
local function group_choose(group, how, moves)
  local index, prefix = queue_delayed_set(11), group .. '\0'
  local head, places = prefix .. MEMBER_PARKED, queue_priorities.limits and gate_places(group) or queue_places
  local taken = redis.call('ZLEXCOUNT', index, '[' .. prefix, '(' .. head)
  local first = redis.call('ZRANGE', index, '[' .. head, '(' .. prefix .. '\255', 'BYLEX', 'LIMIT', 0, 1)[1]
  if not first and taken <= places then
    return
  end
  -- Others wait, so that a place is looked for that nobody has: of many, eight are looked at.
  local some = how == GROUP_CHECKED and taken == places and redis.call('ZRANGE', index, '[' .. prefix, '(' .. head, 'BYLEX', 'LIMIT',
    clock_now % math.max(1, taken - 7), 8) or {}
  for i = 1, #some do
    if not group_has(group, member_parts(some[i], group)) then
      taken = taken - redis.call('ZREM', index, some[i])
    end
  end
  local last = taken > 0
    and redis.call('ZRANGE', index, '(' .. head, '[' .. prefix .. MEMBER_DELAYED, 'BYLEX', 'REV', 'LIMIT', 0, 1)[1]
  first, last = first and member_parts(first, group), last and member_parts(last, group)
  local any = taken ~= places or last and page_is_before(first.order, last.order)
  for level, one in pairs(any and { [0] = taken <= places and first or nil, [10] = taken >= places and last or nil } or {}) do
    -- One into the last free place needs no further look, where none else is delayed.
    one.group, one.again, moves[level][#moves[level] + 1] = group, last or taken + 1 < places, one
  end
end

-- Moves messages into the set of a level. Adds the groups that need another look.
local function group_move(level, moves, again)
  local index, kind = queue_delayed_set(11), '\0' .. (level == 10 and MEMBER_PARKED or MEMBER_DELAYED)
  local members, ids, added, moved, set = {}, {}, {}, {}, {}
  for i = 1, #moves do
    members[i], ids[i] = moves[i].member, moves[i].id
  end
  local scores = redis.call('ZMSCORE', queue_delayed_set(10 - level), unpack(ids))
  local others, leases = redis.call('ZMSCORE', queue_delayed_set(level), unpack(ids)), redis.call('ZMSCORE', key_leased, unpack(ids))
  for i = 1, #moves do
    local one, n = moves[i], #moved
    -- Where others have damaged nothing, the sets say so.
    local sure = tonumber(scores[i]) == one.due and not others[i] and not leases[i]
    local has = one.due and (sure or group_has(one.group, one))
    if has then
      added[2 * n + 1], added[2 * n + 2] = '0', one.group .. kind .. one.order
      set[2 * n + 1], set[2 * n + 2], moved[n + 1] = scores[i] or one.due, one.id, one.id
    end
    again[one.group] = again[one.group] or one.again or not has or nil
  end
  if #moved > 0 then
    group_needed = group_needed or not member_need(CHECK_GROUPS)
    redis.call('ZADD', index, unpack(added))
    redis.call('ZADD', queue_delayed_set(level), unpack(set))
    redis.call('ZREM', queue_delayed_set(10 - level), unpack(moved))
  end
  redis.call('ZREM', index, unpack(members))
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
  local groups, rounds = queue_places and group_changed or {}, 0
  repeat
    local moves, again = { [0] = {}, [10] = {} }, {}
    for group, how in pairs(groups) do
      -- A place that is left is wanted by parked messages only.
      local _ = (parked or how ~= GROUP_LEFT) and group_choose(group, how, moves)
    end
    for level, some in pairs(moves) do
      for i = 1, #some, 256 do
        group_move(level, { unpack(some, i, math.min(i + 255, #some)) }, again)
      end
    end
    -- More than a few only after the limit was changed.
    groups, parked, rounds = again, true, rounds + 1
  until not next(groups) or rounds == 1024
  group_changed = {}
  local first = base and (queue_places or queue_priorities.limits) and not queue_paused and queue_first_due()
  if first and (not before or first < before or before < now - WAKEUP_OVERDUE_MICROS) then
    wakeup_write(wakeup_waiters, (wakeup_cover(wakeup_waiters, base, first, now)))
  end
end
