-- Stores messages with the time at which they are due.
--
-- KEYS  messages, delayed, leased, state, sessions, config, waiters, seen; priorities, see queue.lua
-- ARGV  1 session  2 sequence  3 the queue's base key
--       then, as items.lua reads them, five for each message, at most 256:
--         id
--         words with a space between them: 'after' a delay or 'at' a time; 'reject', 'ignore' or 'replace', if the id is in
--           use; then, if they are not the defaults, priority=0 to 9, limit= how many messages the queue may hold, and group= how
--           many bytes of its body are the message's group, 1 to 200 without control characters; none with a priority.
--           Or 'at recur': a recurring schedule is declared
--         the delay or the time, in microseconds; of a recurring schedule when it was declared first, 0 is now
--         the claim id under which the caller holds the message with this id, or nothing
--         the group, if there is one; of a recurring schedule the next times of the rule, see run.lua; the body
-- Reply bytes: struct 'd' time of the call, then for each message 'Bd' outcome and due time
--         1 SCHEDULED
--         2 REPLACED      it took the place of a message that waited
--         3 SUPERSEDED    it took the place of the delivery under way
--         4 DELAYED       not stored: the id is in use, and its message waits until the time in the reply
--         5 LEASED        not stored: the id is in use, and its lease expires at the time in the reply
--         6 BEYOND_RANGE  not stored: the due time is beyond the exact range
--         7 FINISHED      not stored: the id is a duplicate until the time in the reply
--         8 FULL          not stored: the queue holds as many messages as the reply says instead of a time
--         9 STALE         not stored: a claim id was given and the message is gone; it was cancelled, or finished by another
--                         delivery, and must not come back
-- Errors  argument, config, keys, needs, partitions, superseded, and Redis's OOM: nothing is changed
-- Cost  O(log N) for each message
--
-- A recurring schedule is declared any number of times: DELAYED and LEASED say that it has this rule already. Another body and
-- another priority are taken over, and change no time. Neither does the same rule, unless the next run is due after all times
-- that the call brings: a clock was wrong. Another rule is REPLACED: the next run is due at its first time after now. A run under
-- way goes on under its lease in all cases. If another client has declared the schedule later than this one did first, nothing
-- is changed. A message that is no schedule is replaced.
-- For delays the position in the call is added in microseconds, so that messages come out in the order in which they were
-- scheduled. This is the only command that may be refused when the server's memory is full: its first write is refused then,
-- and nothing is changed.
-- There are two ways: plain.lua stores messages about which nothing is special, all together; the rest of this file stores them
-- one after the other.

--@include call.lua
--@include clock.lua
--@include session.lua
--@include plain.lua
--@include items.lua
--@include check.lua
--@include effect.lua
--@include record.lua
--@include queue.lua
--@include pause.lua
--@include place.lua
--@include message.lua
--@include wakeup.lua

local SCHEDULED, REPLACED, SUPERSEDED, DELAYED, LEASED, BEYOND_RANGE, FINISHED, FULL, STALE = 1, 2, 3, 4, 5, 6, 7, 8, 9

if session_stored then
  return session_stored
end
local base, now = ARGV[3], clock_now
local ids, words, times, claims, bodies = unpack(items_columns)
effect_begin(true)
queue_read_config()
local remembers = redis.call('ZCARD', key_seen) > 0

-- The meaning of words: text -> table. In most calls all messages have the same.
local options = {}

local function read_options(text, i)
  local time, policy, rest = string.match(text, '^(%l+) (%l+)(.*)$')
  if (time ~= 'after' and time ~= 'at') or (policy ~= 'reject' and policy ~= 'ignore' and policy ~= 'replace'
      and policy ~= 'recur') then
    error('REDISDELAY argument: message ' .. i)
  end
  local level, limit, group = place_options(rest, i)
  queue_need_priorities(level > 0)
  options[text] = { relative = time == 'after', replaces = policy == 'replace', recurs = policy == 'recur', level = level,
    limit = limit, group = group }
  return options[text]
end

local dues, groups, earliest, recurs = {}, {}, math.huge, false
for i = 1, items_count do
  local option = options[words[i]] or read_options(words[i], i)
  if option.group then
    local _ = queue_places or queue_read_config(false, true)
    groups[i], bodies[i] = string.sub(bodies[i], 1, option.group), string.sub(bodies[i], option.group + 1)
  end
  if ids[i] == '' or (#claims[i] ~= 0 and #claims[i] ~= 16)
      or option.group and (#groups[i] < option.group or string.find(groups[i], '[%c%z]')) then
    error('REDISDELAY argument: message ' .. i)
  end
  local due = check_integer(times[i], 0, CALL_MAX_EXACT, 'due time of message ', i)
  if option.relative then
    due = now + due + (i - 1)
  end
  if option.recurs then
--@include run.lua
    due, earliest, recurs = due == 0 and now or due, math.min(earliest, run_later(run_read(bodies[i], i), now)), true
  elseif due <= CALL_MAX_EXACT then
    earliest = math.min(earliest, due)
  end
  dues[i] = due
end

local function no_group() end

-- Functions of group.lua, if the queue has groups, or places, which a message that replaces a leased one leaves.
local group_of, leave_group, to_group, mend_groups, end_groups = no_group, no_group, nil, nil, no_group
local moves = queue_places or (queue_priorities.limits or {}).places
if moves then
--@include member.lua
--@include page.lua
--@include group.lua
  group_of, leave_group, to_group, mend_groups, end_groups = member_group, group_leave, group_add, group_mend, group_end
end

local length = redis.call('HLEN', key_messages)
local ids_in_sets = redis.call('ZCARD', key_leased)
for i = 0, #queue_priorities + (queue_places and 1 or 0) do
  ids_in_sets = ids_in_sets + redis.call('ZCARD', queue_delayed_set(queue_priorities[i]))
end
-- Some were lost (to eviction, or deleted by hand), and a new message may get the id of one.
local bodies_lost = length < ids_in_sets

-- Stores a message in place of one that its id may have, in its group, too. Returns the level of the set in which it waits.
local function put(id, level, time, due, body, group)
  local set = message_store(id, level, time, due, body, group, to_group)
  if group and #body > 1024 then
    -- Its group is found without the body.
    local record = record_read(nil, due, level)
    record.group = group
    redis.call('HSET', key_state, id, record_write(record))
  end
  -- One that is stored in `delayed` takes the place of what others have left there.
  local _ = set == 10 and redis.call('ZREM', key_delayed, id)
  return set
end

-- Stores a message, if its id is free or it may take the place of the one that has it. Returns its outcome, and a time or number.
local function store(id, due, claim, option, body, group, declared)
  local claimed = #claim == 16
  local free = redis.call('HEXISTS', key_messages, id) == 0
  local before_group = (not free or bodies_lost) and group_of(id)
  if due > CALL_MAX_EXACT then
    return BEYOND_RANGE, due
  elseif free then
    local until_then
    if remembers and not (option.replaces or declared) then
--@include seen.lua
      until_then = seen_until(id, now)
    end
    if claimed and not redis.call('ZSCORE', key_leased, id) then
      return STALE, 0
    elseif until_then then
      return FINISHED, until_then
    elseif option.limit and length >= option.limit then
      return FULL, length
    end
    if bodies_lost then
      leave_group(before_group or group, id)
      place_remove(id)
      redis.call('ZREM', key_leased, id)
    end
    put(id, option.level, declared or now, due, body, group)
    length = length + 1
    return SCHEDULED, due
  end
  local pending, before = place_find(id)
  local lease = not pending and redis.call('ZSCORE', key_leased, id)
  local holder = lease and claimed and record_is_held(key_state, id, claim)
  -- A body in no set, as eviction leaves it behind: its id is free.
  if holder or option.replaces or declared or not (pending or lease) then
    leave_group(before_group, id)
    local set = put(id, option.level, declared or now, due, body, group)
    redis.call('ZREM', key_leased, id)
    if pending and (before or 10) ~= set then
      redis.call('ZREM', queue_delayed_set(before), id)
    end
    return lease and SUPERSEDED or pending and REPLACED or SCHEDULED, due
  elseif pending then
    return DELAYED, tonumber(pending)
  end
  return LEASED, tonumber(lease)
end

local declare
if recurs then
--@include run.lua
--@include member.lua
  -- Declares a recurring schedule. Returns as store does.
  declare = function(id, declared, _, option, text, group)
    local times, rule, body = run_read(text)
    member_need(CHECK_SCHEDULES)
    local last, level, stored = run_later(times, math.huge), option.level + RECORD_RUN, redis.call('HGET', key_messages, id)
    local pending, record = place_find(id), record_read(redis.call('HGET', key_state, id), now, 0, id)
    local waits = tonumber(stored and #stored >= 16 and (pending or redis.call('ZSCORE', key_leased, id)) or nil)
    local new_due, past, _, _, known = string.match(record_run(record), RUN_LINE)
    local when, its_group = waits and math.abs((struct.unpack('<d', stored))), member_stored(stored)
    -- A run that keeps its place waits for the gate of its group, but is due when its record says.
    local same, far = known == rule, pending and math.min(waits or 0, record.due) > last and last > now
    local due, equal = same and not far and waits or run_later(times, now), same and record.priority == level
    -- A time that is still to come is one of a clock that was ahead, and counts as the earliest.
    local newer = waits and when <= now and (when > declared or declared > now)
    -- A run that is overdue, or was tried already, which must not be thrown away.
    local begun = waits and (waits <= now or record.attempts > 0)
    -- Another group waits until such a run, or the one under way, has ended.
    if known and waits and (newer or not pending or begun or equal and group == its_group) and not (same and far) then
      if not newer then
        redis.call('HSET', key_messages, id, message_head(declared, record.first_due, its_group) .. body)
      end
      if newer or equal then
        return pending and DELAYED or LEASED, waits
      end
      local digits, failure = same and new_due or string.format('%.0f', due), string.match(record.failure, '\n.*$')
      -- A run under way keeps its group, and so has no priority with it.
      level = group == its_group and level or record.priority
      record.priority, record.failure = level, digits .. ' ' .. past .. ' ' .. rule .. failure
      redis.call('HSET', key_state, id, record_write(record))
      return same and LEASED or REPLACED, due
    end
    local outcome, number = store(id, due, '', option, body, group, declared)
    if outcome ~= FULL then
      redis.call('HSET', key_state, id, run_record(due, level, past or '0@0@0', rule, '', group))
    end
    return outcome, number
  end
end

-- Then, what is stored may be parked: who is woken follows from what is due earlier at the end.
local before = moves and queue_first_due()
local promises = not moves and earliest < math.huge and wakeup_cover_earlier(base, earliest, now)

-- The first write: refused when memory is full.
redis.call('ZADD', key_leased, 'XX', '0', '')
if next(groups) then
  mend_groups()
end
local reply = { struct.pack('<d', now) }
for i = 1, items_count do
  local option = options[words[i]]
  reply[i + 1] = struct.pack('<Bd', (option.recurs and declare or store)(ids[i], dues[i], claims[i], option, bodies[i], groups[i]))
end
reply = table.concat(reply)
if remembers then
--@include seen.lua
  seen_forget_some(now)
end
effect_end(reply)
wakeup_write(wakeup_waiters, promises)
end_groups(base, now, before)
pause_keep()
return reply
