-- Cancels messages, changes the time at which they are due, or pauses the queue.
--
-- KEYS  messages, delayed, leased, state, sessions, config, waiters, seen, index (the one that these messages are in if they
--       are dead letters; see index.lua), dead:index, dead:messages; priorities
-- ARGV  1 session  2 sequence  3 the queue's base key
--       then, as items.lua reads them, three for each message, at most 256:
--         id; of pause and resume nothing
--         cancel; cancel-delayed, unless it is leased; reschedule-after, due after a delay; reschedule-at, due at a time;
--           promote, due at a time unless it is due earlier; pause or resume, the queue
--         for reschedule-after, reschedule-at and promote the delay or the time, in microseconds, for promote 0 is now; else
--         0
-- Reply bytes: struct 'd' time of the call, then for each message 'Bd'
--         where it was: 0 nowhere  1 delayed  2 leased  3 delayed, and its new due time is beyond the exact range:
--           unchanged  4 nowhere, but finished lately  21 to 120: dead, and 20 less is the number of its dead letters, of
--           which 100 are counted at most; of pause and resume whether the queue was paused: 0 or 1
--         its new due time (0: none); if it is dead, the time in the id of the newest of its dead letters
-- Errors  argument, config, keys, needs, partitions, superseded: nothing is changed
-- Cost  O(log N) for each message
--
-- A cancel removes the message in any state, and frees an id that was finished lately. A new due time is given only to a
-- delayed message. A message that is dead is told of and left alone: other commands change dead letters.

--@include call.lua
--@include clock.lua
--@include items.lua
--@include session.lua
--@include check.lua
--@include effect.lua
--@include record.lua
--@include queue.lua
--@include pause.lua
--@include place.lua
--@include seen.lua
--@include index.lua
--@include dead.lua

-- Actions, and whether they give a new due time.
local ACTIONS = { cancel = false, ['cancel-delayed'] = false, ['reschedule-after'] = true, ['reschedule-at'] = true,
  promote = true, pause = false, resume = false }
local NOWHERE, DELAYED, LEASED, BEYOND_RANGE, FINISHED, DEAD_AND = 0, 1, 2, 3, 4, 20

if session_stored then
  return session_stored
end
local base, now = ARGV[3], clock_now
local ids, actions, times = unpack(items_columns)
effect_begin()
queue_read_config()
local remembers = seen_any()

local dues = {}
local earliest, resumed = math.huge, false
for i = 1, items_count do
  local id, action = ids[i], actions[i]
  local gives_time = ACTIONS[action]
  if gives_time == nil or ((#id == 0) ~= (action == 'pause' or action == 'resume')) then
    error('REDISDELAY argument: message ' .. i)
  end
  local due = check_integer(times[i], 0, CALL_MAX_EXACT, 'due time of message ', i)
  if action == 'reschedule-after' or (action == 'promote' and due == 0) then
    due = now + due + (i - 1)
  end
  dues[i] = due
  if gives_time and due < earliest and due <= CALL_MAX_EXACT and place_find(id) then
    earliest = due
  end
  resumed = resumed or action == 'resume'
end
local promises
if resumed or earliest < math.huge then
--@include wakeup.lua
  promises = resumed and wakeup_cover(wakeup_waiters, base, now, now) or wakeup_cover_earlier(base, earliest, now)
end

local function set_paused(paused)
  local was = queue_paused and 1 or 0
  if not paused then
    queue_paused = false
    redis.call('HDEL', key_config, 'paused')
  elseif not queue_paused then
    queue_paused = string.format('%.0f', now)
    redis.call('HSET', key_config, 'paused', queue_paused)
  end
  return was
end

local cancelled = {}

-- Removes a message in any state. Returns where it was.
local function cancel(id)
  redis.call('HDEL', key_messages, id)
  redis.call('HDEL', key_state, id)
  local delayed, leased = place_remove(id), redis.call('ZREM', key_leased, id) == 1
  local was = delayed and DELAYED or leased and LEASED or NOWHERE
  cancelled[#cancelled + 1] = id
  if remembers then
    if was == NOWHERE and seen_until(id, now) then
      was = FINISHED
    end
    redis.call('ZREM', key_seen, id)
  end
  return was
end

-- Gives a delayed message a new due time.
local function reschedule(id, due, pending, priority)
  local record = record_read(redis.call('HGET', key_state, id), tonumber(pending), priority, id)
  record.due = due
  if record.attempts == 0 then
    record.first_due = due
  end
  redis.call('HSET', key_state, id, record_write(record))
  redis.call('ZADD', queue_delayed_set(priority), due, id)
end

-- Needs no memory: after it, nothing is refused when memory is full.
redis.call('ZREM', key_delayed, '')
if promises and #promises > 0 then
  redis.call('ZADD', key_waiters, 'XX', unpack(promises))
end
local reply = { struct.pack('<d', now) }
for i = 1, items_count do
  local id, action = ids[i], actions[i]
  local was, due = NOWHERE, 0
  if action == 'pause' or action == 'resume' then
    was = set_paused(action == 'pause')
  else
    local pending, priority
    if action ~= 'cancel' then
      pending, priority = place_find(id)
      was = pending and DELAYED or redis.call('ZSCORE', key_leased, id) and LEASED or NOWHERE
    end
    if action == 'cancel' or (action == 'cancel-delayed' and was ~= LEASED) then
      was = cancel(id)
    elseif ACTIONS[action] and pending then
      if dues[i] > CALL_MAX_EXACT then
        was = BEYOND_RANGE
      else
        due = action == 'promote' and math.min(dues[i], tonumber(pending)) or dues[i]
        reschedule(id, due, pending, priority)
      end
    end
    if (was == NOWHERE or was == FINISHED) and action ~= 'cancel-delayed' then
      local all = dead_find(id)
      if #all > 0 then
        was, due = DEAD_AND + #all, tonumber(all[1])
      end
    end
  end
  reply[i + 1] = struct.pack('<Bd', was, due)
end
if #cancelled > 0 then
  index_forget(key_index, cancelled)
  queue_drop_priorities()
end
pause_keep(resumed)
return effect_end(table.concat(reply))
