-- Included where messages with a group are stored, moved or removed, after queue.lua, member.lua, page.lua and wakeup.lua.
--
-- A group has so many places as `config` says. Its messages in `delayed` and `leased` have one each; all others are parked, so a
-- claim meets none that it may not give. A message that has failed keeps its place while it is delayed. Each call notes the
-- groups of which it adds, moves or removes messages, and brings them into line at its end: what has no place is parked, a free
-- place goes to the first parked message, and one that is due before a delayed message that was never begun changes places with it.

-- The groups that this call has changed.
local group_changed = {}
-- At most so many messages of a group are moved by a call. More have to be only after the limit was changed.
local GROUP_MOST = 1024
-- Their place among the sets of delayed messages, see queue_delayed_set.
local GROUP_PARKED = 10

-- Removes a message from the index, if it has a group. Comes before it leaves its set.
local function group_leave(group, id)
  if group then
    local due, parked = redis.call('ZSCORE', key_delayed, id), redis.call('ZSCORE', queue_delayed_set(10), id)
    redis.call('ZREM', queue_delayed_set(11), member_make(group, MEMBER_PLACE, id),
      due and member_make(group, MEMBER_DELAYED, id, tonumber(due)) or '',
      parked and member_make(group, MEMBER_PARKED, id, tonumber(parked)) or '')
    group_changed[group] = true
  end
end

-- Has a message that is not in the index wait, or parks it, in place of the other, if it has a group.
local function group_put(group, id, due, level)
  if group then
    member_need(CHECK_GROUPS)
    redis.call('ZADD', queue_delayed_set(level), due, id)
    redis.call('ZADD', queue_delayed_set(11), 0, member_make(group, level == 0 and MEMBER_DELAYED or MEMBER_PARKED, id, due))
    redis.call('ZREM', queue_delayed_set(GROUP_PARKED - level), id)
    group_changed[group] = true
  end
end

-- Brings a group into line, in at most so many steps.
local function group_balance(group, most)
  local prefix = group .. '\0'
  local found = redis.call('ZRANGE', queue_delayed_set(11), '[' .. prefix .. (queue_places < math.huge and '' or MEMBER_PARKED),
    '(' .. prefix .. '\255', 'BYLEX', 'LIMIT', 0, math.min(queue_places + 1, GROUP_MOST))
  local taken, first = {}, nil
  for i = 1, #found do
    local one = member_parts(found[i], group)
    first = first or one.kind == MEMBER_PARKED and one
    taken[#taken + 1] = not first and one or nil
  end
  if not first and #found <= queue_places then
    return
  end
  -- Others wait, so that a place is looked for that nobody has, as evicted and deleted keys leave it behind.
  for i = 1, #taken do
    local one, due = taken[i], tonumber(redis.call('ZSCORE', key_delayed, taken[i].id))
    local there = one.kind == MEMBER_PLACE and (due or redis.call('ZSCORE', key_leased, one.id)) or due and due == one.due
    if not there or redis.call('HEXISTS', key_messages, one.id) == 0 then
      redis.call('ZREM', queue_delayed_set(11), one.member)
      return most > 1 and group_balance(group, most - 1)
    end
  end
  local last = redis.call('ZRANGE', queue_delayed_set(11), '(' .. prefix .. MEMBER_PARKED, '[' .. prefix .. MEMBER_DELAYED, 'BYLEX',
    'REV', 'LIMIT', 0, 1)[1]
  last = last and member_parts(last, group)
  if #taken > queue_places then
    first = nil
  elseif #taken < queue_places then
    last = nil
  elseif not (last and page_is_before(first.order, last.order)) then
    return
  end
  if last then
    redis.call('ZREM', queue_delayed_set(11), last.member)
    group_put(group, last.id, last.due, GROUP_PARKED)
  end
  if first then
    redis.call('ZREM', queue_delayed_set(11), first.member)
    group_put(group, first.id, first.due, 0)
  end
  return (last or first) and most > 1 and group_balance(group, most - 1)
end

-- Mends what others have damaged, a bit with each call, after its first write: without the index all parked messages are delayed,
-- so that claims put them there again; and the groups of the first parked message and of any are brought into line.
local function group_mend()
  if redis.call('ZCARD', queue_delayed_set(11)) < redis.call('ZCARD', queue_delayed_set(10)) then
    redis.call('ZUNIONSTORE', key_delayed, 2, key_delayed, queue_delayed_set(10), 'AGGREGATE', 'MIN')
    redis.call('ZREMRANGEBYSCORE', queue_delayed_set(10), '-inf', '+inf')
  end
  local any, first = redis.call('ZRANDMEMBER', queue_delayed_set(11)), redis.call('ZRANGE', queue_delayed_set(10), 0, 0)[1]
  any, first = any and string.match(any, '^[^%z]+'), first and member_group(first)
  group_changed[any or ''], group_changed[first or ''] = any and true, first and true
end

-- Brings all groups that were changed into line, and wakes a consumer if something is due earlier than before the call, which
-- nobody knows, or has been due for so long that whoever promised to come must have died.
local function group_end(base, now, before)
  for group in pairs(queue_places and group_changed or {}) do
    group_balance(group, GROUP_MOST)
  end
  group_changed = {}
  local first = base and queue_places and not queue_paused and queue_first_due()
  if first and (not before or first < before or before < now - WAKEUP_OVERDUE_MICROS) then
    wakeup_write(wakeup_waiters, (wakeup_cover(wakeup_waiters, base, first, now)))
  end
end
