-- Stores messages with the time at which they are due.
--
-- KEYS  1 to 17 see queue.lua; those of the priorities may be missing, unless the call or the queue uses any
-- ARGV  1 session  2 sequence  3 the queue's base key
--       then, as items.lua reads them, five for each message, at most 256:
--         id
--         words with a space between them: 'after' a delay or 'at' a time; 'reject', 'ignore' or 'replace', if the id is in
--           use; then, if they are not the defaults, priority=0 to 9, and limit= how many messages the queue may hold
--         the delay or the time, in microseconds
--         the claim id under which the caller holds the message with this id, or nothing
--         the body
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
-- Errors  argument, config, format, keys, partitions, superseded, and Redis's OOM: nothing is changed
-- Cost  O(log N) for each message
--
-- A message is stored as struct '<dd' time of scheduling, and the time it was scheduled for; then its body. For delays the
-- position in the call is added in microseconds, so that messages come out in the order in which they were scheduled.
-- This is the only command that may be refused when the server's memory is full: its first write is refused then, and
-- nothing is changed. Where it has to drop a record first that eviction has left behind, Redis refuses nothing any more.
-- If all ids are new, the messages are stored together, with one command for each key; by plain.lua, if nothing about them or
-- their queue is special.

--@include plain.lua
--@include call.lua
--@include items.lua
--@include session.lua
--@include record.lua
--@include queue.lua
--@include place.lua
--@include seen.lua
--@include wakeup.lua

local SCHEDULED, REPLACED, SUPERSEDED, DELAYED, LEASED, BEYOND_RANGE, FINISHED, FULL, STALE = 1, 2, 3, 4, 5, 6, 7, 8, 9

local base = ARGV[3]
local count, items = items_read(3, 5, 'messages')
local ids, words, times, claims, bodies = unpack(items)
local now, stored = session_begin(QUEUE_KINDS, '', true)
if stored then
  return stored
end
queue_read_config()
local remembers = seen_any()

-- The meaning of words: text -> table. In most calls all messages have the same.
local options = {}
-- How many messages the queue holds; counted only if a message has a limit.
local length

local function read_options(text, i)
  local time, policy, rest = string.match(text, '^(%l+) (%l+)(.*)$')
  if (time ~= 'after' and time ~= 'at') or (policy ~= 'reject' and policy ~= 'ignore' and policy ~= 'replace') then
    error('REDISDELAY argument: message ' .. i)
  end
  local level, limit = place_options(rest, i)
  queue_need_priorities(level > 0)
  length = length or (limit and redis.call('HLEN', queue_messages))
  options[text] = { relative = time == 'after', policy = policy, level = level, limit = limit }
  return options[text]
end

local dues, known = {}, {}
local earliest = math.huge
-- True if all messages are plain ones with new ids.
local new = true
for i = 1, count do
  local id, claim = ids[i], claims[i]
  local option = options[words[i]] or read_options(words[i], i)
  if id == '' or (#claim ~= 0 and #claim ~= 16) then
    error('REDISDELAY argument: message ' .. i)
  end
  local due = call_integer(times[i], 0, CALL_MAX_EXACT, 'due time of message ', i)
  if option.relative then
    due = now + due + (i - 1)
  end
  if due > CALL_MAX_EXACT then
    new = false
  elseif due < earliest then
    earliest = due
  end
  if known[id] or #claim > 0 or option.level > 0 or (option.limit and length + count > option.limit) then
    new = false
  end
  known[id] = true
  dues[i] = due
end

local function none_in(set)
  local scores = redis.call('ZMSCORE', set, unpack(ids))
  for i = 1, count do
    if scores[i] then
      return false
    end
  end
  return true
end

new = new and none_in(queue_leased) and not (remembers and not none_in(seen_key))
for i = 0, #queue_priorities do
  new = new and none_in(queue_delayed_set(queue_priorities[i]))
end

local promises = earliest < math.huge and wakeup_cover_earlier(base, earliest, now)

local reply
if new then
  local scores, fields, answers = {}, {}, { now }
  for i = 1, count do
    local id, due = ids[i], dues[i]
    scores[2 * i - 1], scores[2 * i] = due, id
    fields[2 * i - 1], fields[2 * i] = id, struct.pack('<dd', now, due) .. bodies[i]
    answers[2 * i], answers[2 * i + 1] = SCHEDULED, due
  end
  -- A body, or a record, in no set, as eviction leaves it behind: its id is free, and the record must not be about the new
  -- message, as its claim id would finish that.
  local records = redis.call('HMGET', queue_state, unpack(ids))
  for i = 1, count do
    if records[i] then
      redis.call('HDEL', queue_state, ids[i])
    end
  end
  -- If there was none, this is the first write: refused when memory is full.
  redis.call('HSET', queue_messages, unpack(fields))
  redis.call('ZADD', queue_delayed, unpack(scores))
  reply = struct.pack('<d' .. string.rep('Bd', count), unpack(answers))
else
  -- One after the other.
  length = length or redis.call('HLEN', queue_messages)
  local ids_in_sets = redis.call('ZCARD', queue_leased)
  for i = 0, #queue_priorities do
    ids_in_sets = ids_in_sets + redis.call('ZCARD', queue_delayed_set(queue_priorities[i]))
  end
  -- Some were lost (to eviction, or deleted by hand), and a new message may get the id of one.
  local bodies_lost = length < ids_in_sets
  -- The first write: refused when memory is full.
  redis.call('ZADD', queue_leased, 'XX', '0', '')
  reply = { struct.pack('<d', now) }
  for i = 1, count do
    local id, due, claim, body = ids[i], dues[i], claims[i], bodies[i]
    local option = options[words[i]]
    local level = option.level
    local outcome
    -- If the id is in use, that is the answer; a message that takes the place of another one is not asked for the rest.
    local until_then = remembers and option.policy ~= 'replace' and seen_until(id, now)
    local full = option.limit and length >= option.limit
    local claimed = #claim == 16
    local free = (until_then or full or claimed) and redis.call('HEXISTS', queue_messages, id) == 0
    if due > CALL_MAX_EXACT then
      outcome = BEYOND_RANGE
    elseif claimed and free and not redis.call('ZSCORE', queue_leased, id) then
      due, outcome = 0, STALE
    elseif until_then and free then
      due, outcome = until_then, FINISHED
    elseif full and free then
      due, outcome = length, FULL
    elseif redis.call('HSETNX', queue_messages, id, struct.pack('<dd', now, due) .. body) == 1 then
      if bodies_lost then
        place_remove(id)
        redis.call('ZREM', queue_leased, id)
      end
      if redis.call('HEXISTS', queue_state, id) == 1 then
        redis.call('HDEL', queue_state, id)
      end
      place_use_priority(level)
      redis.call('ZADD', queue_delayed_set(level), due, id)
      length = length + 1
      outcome = SCHEDULED
    else
      local pending, before = place_find(id)
      local lease = not pending and redis.call('ZSCORE', queue_leased, id)
      local holder = lease and claimed and record_is_held(queue_leased, queue_state, id, claim)
      if holder or option.policy == 'replace' or not (pending or lease) then
        -- This is also the way of a body in no set, as eviction leaves it behind: its id is free.
        redis.call('HSET', queue_messages, id, struct.pack('<dd', now, due) .. body)
        redis.call('HDEL', queue_state, id)
        place_use_priority(level)
        redis.call('ZADD', queue_delayed_set(level), due, id)
        redis.call('ZREM', queue_leased, id)
        if pending and before ~= level then
          redis.call('ZREM', queue_delayed_set(before), id)
        end
        outcome = lease and SUPERSEDED or pending and REPLACED or SCHEDULED
      elseif pending then
        due, outcome = tonumber(pending), DELAYED
      else
        due, outcome = tonumber(lease), LEASED
      end
    end
    reply[i + 1] = struct.pack('<Bd', outcome, due)
  end
  reply = table.concat(reply)
end
if remembers then
  seen_forget_some(now)
end
session_end(now, reply)
wakeup_write(wakeup_waiters, promises)
return reply
