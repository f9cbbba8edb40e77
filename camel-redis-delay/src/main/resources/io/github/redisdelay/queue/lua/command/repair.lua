-- Looks through the bodies, the state records, the index or the groups for what no set leads to, as a key leaves it behind that was
-- evicted or deleted: such a body is delayed again, such a record or entry without a body is dropped. One slice of a walk;
-- may be executed any number of times.
--
-- KEYS  messages, delayed, leased, state, config, waiters, index (the one that these messages are in if they are dead letters;
--       see index.lua); priorities, which may not be left out here
-- ARGV  1 what to walk over: messages, state, index, or groups  2 where the slice begins: 0 at first, then what the slice before it
--         answered  3 the queue's base key  4 dead if these are dead letters, else nothing
-- Reply  a list: struct 'ddd' time of the call, how many were looked at, and how many ids in the sets have no body; where
--        the next slice begins, 0 at the end; then the ids that are delayed again, or whose records were dropped
-- Errors  argument, config, needs, partitions: nothing is changed
-- Cost  O(log N) for each one looked at, about 256 in a call, or about 1 MB of bodies, which are copied
--
-- All that is there during the whole walk is looked at (see SCAN). Whether a set leads to an id is asked in the same call:
-- what is being delivered is left alone, and what was finished is not there.
-- A message is due when its record says, at the latest now if it was being delivered; without a record it counts as new, and is
-- due at the time that stands before its body. A delivery that it was in has no lease any more, and must not finish it.
-- How many have no body is right if nothing else is amiss, so after the last slice of the bodies.
-- A priority whose set holds something, and that claims do not look at, is noted again by the last slice of the bodies, or by one that
-- takes ids out of sets that do not count: those that were scheduled again elsewhere when the configuration was lost.
-- A dead letter that is not in the index is put there by the walk over the bodies. The walk over the index drops entries
-- without a body.
-- A message with a group that the groups do not have is put there by the walk over the bodies. The walk over the groups drops what
-- is not where they say, and brings each group into line, also with a limit that was changed. Then the mark in `config` goes.

--@include call.lua
--@include clock.lua
--@include check.lua
--@include record.lua
--@include queue.lua
--@include place.lua
--@include member.lua
--@include page.lua
--@include wakeup.lua
--@include index.lua
--@include group.lua

local SLICE, SLICE_BYTES = 256, 1048576
-- The first step is small, because bodies may be large. The number of steps is limited, because most of a table may be
-- empty.
local LONGEST_STEP, STEPS = 32, 64
local LEASE_EXPIRED = 2

local walk, cursor, base, kind = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local dead = kind == 'dead'
local by_member = walk == (dead and 'index' or 'groups')
if not (walk == 'messages' or walk == 'state' or by_member) or not kind or kind ~= '' and not dead
    or not (by_member or string.find(cursor, '^%d+$')) then
  error('REDISDELAY argument: slice')
end

queue_read_config()
local now = clock_now
local bodies = redis.call('HLEN', key_messages)
redis.call('HLEN', key_state)
redis.call('ZCARD', key_index)
local before = queue_first_due()

if by_member then
  local set, lost = dead and key_index or queue_delayed_set(11), { '' }
  -- When the walk began, and what it has seen.
  local began, last = string.match(cursor, '^(%d+) (.*)$')
  local found = redis.call('ZRANGE', set, last and '(' .. last or '-', '+', 'BYLEX', 'LIMIT', 0, SLICE)
  for i = 1, dead and #found or 0 do
    local id, digits = string.match(found[i], '^(.+)%z(%d+)$')
    if not id or redis.call('HEXISTS', key_messages, id .. '@' .. digits) == 0 then
      lost[#lost + 1] = found[i]
    end
  end
  -- Needs no memory: after it, nothing is refused when memory is full.
  redis.call('ZREM', set, unpack(lost))
  for i = 1, dead and 0 or #found do
    local group = string.match(found[i], '^[^%z]+') or ''
    redis.call('ZREM', set, group_has(group, found[i]) and '' or found[i])
    gate_forget(select(3, member_parts(found[i], group)))
    group_changed[group] = GROUP_CHECKED
  end
  group_end(base, now, before)
  began = began or string.format('%.0f', now)
  local limit, changed = string.match(not dead and redis.call('HGET', key_config, 'groupLimit') or '', '^(.*) changed (%d+)$')
  if #found < SLICE and changed and tonumber(changed) <= tonumber(began) then
    -- All groups are in line with the limit.
    redis.call('HSET', key_config, 'groupLimit', limit)
    redis.call('HDEL', key_config, limit == '1 limit-strict' and 'groupLimit' or '')
  end
  return { struct.pack('<ddd', now, #found, 0), #found == SLICE and began .. ' ' .. found[SLICE] or '0' }
end

-- The contents of the sets: how many ids, in which priorities, and in which of those no claim looks for it.
local ids_in_sets = redis.call('ZCARD', key_leased)
local levels, hidden, noted = {}, {}, { [10] = true }
for i = 0, #queue_priorities do
  noted[queue_priorities[i]] = true
end
for i = 10, 20 do
  -- First the parked ones, then 0 to 9.
  local level = i % 11
  local size = redis.call('ZCARD', queue_delayed_set(level))
  ids_in_sets = ids_in_sets + size
  if size > 0 then
    levels[#levels + 1], hidden[#hidden + 1] = level, not noted[level] and level or nil
  end
end

-- The ids of the slice.
local all, known, dues, groups, bytes, step, steps = {}, {}, {}, {}, 0, 1, 0
repeat
  local found = walk == 'messages' and redis.call('HSCAN', key_messages, cursor, 'COUNT', step)
    or redis.call('HSCAN', key_state, cursor, 'COUNT', step)
  cursor = found[1]
  local fields = found[2]
  for i = 1, #fields, 2 do
    local id, value = fields[i], fields[i + 1]
    bytes = bytes + #value
    -- An id may be met twice; an empty one is not ours.
    if not known[id] and id ~= '' then
      known[id], all[#all + 1] = true, id
      if walk == 'messages' then
        dues[id], groups[id] = record_time(value, 9), not dead and member_stored(value) or nil
      end
    end
  end
  step, steps = math.min(2 * step, LONGEST_STEP), steps + 1
until cursor == '0' or #all >= SLICE or bytes >= SLICE_BYTES or steps >= STEPS

-- The members that the index lacks; the ids that no set leads to; and those that are in two sets, behind the priority that does not
-- count.
local missing, stray, twice = {}, {}, {}
for from = 1, #all, SLICE do
  local ids = { unpack(all, from, math.min(from + SLICE - 1, #all)) }
  local members = dead and walk == 'messages' and index_members(ids) or {}
  local indexed = #members > 0 and redis.call('ZMSCORE', key_index, unpack(members)) or {}
  for i = 1, #members do
    if not indexed[i] then
      missing[#missing + 1] = members[i]
    end
  end
  local found, counts = redis.call('ZMSCORE', key_leased, unpack(ids)), {}
  for l = 1, #levels do
    local level, scores = levels[l], redis.call('ZMSCORE', queue_delayed_set(levels[l]), unpack(ids))
    for i = 1, #ids do
      if scores[i] and level % 10 > 0 and groups[ids[i]] then
        -- A message with a group has no priority.
        twice[#twice + 1], scores[i] = { level, ids[i] }, false
      elseif scores[i] and level % 10 > 0 then
        -- What is no priority counts; of two priorities that one in which the message is due at its own time.
        local better = counts[i]
          and tonumber(scores[i]) == record_read(redis.call('HGET', key_state, ids[i]), dues[ids[i]], 0, ids[i]).due
        twice[#twice + 1] = found[i] and { better and counts[i] or level, ids[i] } or nil
        counts[i] = (better or not found[i]) and level or counts[i]
      elseif scores[i] and (found[i] or level == 10 and walk == 'messages' and not groups[ids[i]]) then
        -- Calls that did not know of groups have scheduled again what is parked.
        twice[#twice + 1], scores[i] = { 10, ids[i] }, found[i]
      end
      found[i] = found[i] or scores[i]
    end
  end
  for i = 1, #ids do
    if not found[i] and (walk == 'messages' or redis.call('HEXISTS', key_messages, ids[i]) == 0) then
      stray[#stray + 1] = ids[i]
    end
  end
end

-- When the first is due of what claims do not know of yet.
local earliest, records = math.huge, {}
hidden = walk == 'messages' and (cursor == '0' or #twice > 0) and hidden or {}
for i = 1, #hidden do
  earliest = math.min(earliest, queue_head(queue_delayed_set(hidden[i])))
end

if walk == 'messages' then
  for i = 1, #stray do
    local due = dues[stray[i]]
    -- A time that no script wrote.
    if not due or due % 1 ~= 0 then
      due = now
    end
    local record = redis.call('HGET', key_state, stray[i])
    if record then
      record = record_read(record, due, 0)
      if record.claim == RECORD_NO_CLAIM then
        due = record.due
      else
        due = math.min(record.due, now)
        record.due, record.claim, record.reason = due, RECORD_NO_CLAIM, LEASE_EXPIRED
      end
      records[i] = record
    end
    dues[stray[i]] = due
    earliest = math.min(earliest, due)
  end
  ids_in_sets = ids_in_sets + #stray
end

if #stray + #hidden + #missing + #twice > 0 or next(groups) then
  local promises = earliest < math.huge and wakeup_cover_earlier(base, earliest, now)
  -- These need no memory, after which nothing is refused when memory is full; and they tell a user who may not do them
  -- before anything is changed. What follows first is of the one command that is not among them.
  redis.call('ZREM', key_delayed, '')
  redis.call('HDEL', key_state, '')
  redis.call('ZADD', key_leased, 'XX', '0', '')
  redis.call('PERSIST', key_messages)
  for i = 1, #stray do
    if records[i] then
      redis.call('HSET', key_state, stray[i], record_write(records[i]))
    end
  end
  for i = 1, #missing do
    redis.call('ZADD', key_index, '0', missing[i])
  end
  for i = 1, #twice do
    redis.call('ZREM', queue_delayed_set(twice[i][1]), twice[i][2])
  end
  for i = 1, #hidden do
    place_use_priority(hidden[i])
  end
  wakeup_write(wakeup_waiters, promises)
  for i = 1, #stray do
    if walk == 'messages' then
      local level = records[i] and record_level(records[i]) or 0
      place_use_priority(level)
      redis.call('ZADD', queue_delayed_set(level), dues[stray[i]], stray[i])
    else
      redis.call('HDEL', key_state, stray[i])
    end
  end
  if next(groups) then
    queue_read_config(false, true)
    member_need(CHECK_GROUPS)
    for id, group in pairs(groups) do
      local members = group_members(group, id)
      local known = redis.call('ZMSCORE', queue_delayed_set(11), unpack(members))
      local parked = not (known[1] or known[2]) and redis.call('ZSCORE', queue_delayed_set(10), id)
      redis.call('ZADD', queue_delayed_set(11), '0', parked and members[3] or known[2] and members[2] or members[1])
      group_changed[group] = true
    end
    group_end(base, now, before)
  end
end

local reply = { struct.pack('<ddd', now, #all, math.max(0, ids_in_sets - #twice - bodies)), cursor }
for i = 1, #stray do
  reply[i + 2] = stray[i]
end
return reply
