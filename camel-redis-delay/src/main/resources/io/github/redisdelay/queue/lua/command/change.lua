-- Cancels messages, changes the time at which they are due, or pauses the queue.
--
-- KEYS  1 to 16 see queue.lua  17 see wakeup.lua  18 the index (see index.lua) that these messages are in if they are dead letters
--       19 index of the queue's dead letters  20 dead messages
-- ARGV  1 lane  2 sequence  3 the queue's base key
--       then three for each message, at most 256:
--         id; of z and w nothing
--         c cancel, e cancel unless it is leased, d due after a delay, a due at a time, p due at a time unless it is due
--           earlier, z pause the queue, w resume it
--         for d, a and p the delay or the time, in microseconds, for p 0 is now; else 0
-- Reply bytes: struct 'd' time of the call, then for each message 'Bd'
--         where it was: 0 nowhere  1 delayed  2 leased  3 delayed, and its new due time is beyond the exact range:
--           unchanged  4 nowhere, but finished lately  20 and more: dead, and it has so many dead letters
--           more than 20, at most 100; of z and w whether the queue was paused: 0 or 1
--         its new due time (0: none); if it is dead, the time in the id of the newest of its dead letters
-- Cost  O(log N) for each message
--
-- A cancel removes the message in any state, and frees an id that was finished lately. A new due time is given only to a
-- delayed message. A message that is dead is told of and left alone: what becomes of a dead letter is asked for by other calls.

--@include session.lua
--@include record.lua
--@include queue.lua
--@include place.lua
--@include seen.lua
--@include wakeup.lua
--@include index.lua

local letters, dead_letters, dead_messages = KEYS[18], KEYS[19], KEYS[20]
local DEAD_AND = 20
local lane = ARGV[1]
local sequence = integer(ARGV[2], 1, MAX_EXACT, 'sequence')
local count = (#ARGV - 3) / 3
if count < 1 or count > 256 or count ~= math.floor(count) then
  error('REDISDELAY argument: number of messages')
end

local now = server_time()
local stored, first = repeated(calls, lane, sequence, now)
if stored then
  return stored
end
read_config()
redis.call('HLEN', messages)
redis.call('ZCARD', leased)
redis.call('HLEN', state)
redis.call('ZCARD', letters)
redis.call('ZCARD', dead_letters)
redis.call('HLEN', dead_messages)
local remembers = any_seen()

local dues = {}
local earliest, resumed = math.huge, false
for i = 1, count do
  local at = 3 + (i - 1) * 3
  local id, action = ARGV[at + 1], ARGV[at + 2]
  if not string.find(action, '^[cedapzw]$') or ((#id == 0) ~= (action == 'z' or action == 'w')) then
    error('REDISDELAY argument: message ' .. i)
  end
  local due = integer(ARGV[at + 3], 0, MAX_EXACT, 'due time of message ', i)
  local pending = #id > 0 and find_delayed(id)
  if action == 'd' or (action == 'p' and due == 0) then
    due = now + due + (i - 1)
  end
  dues[i] = due
  if pending and due < earliest and due <= MAX_EXACT and (action == 'd' or action == 'a' or action == 'p') then
    earliest = due
  end
  resumed = resumed or action == 'w'
end
local called
if resumed then
  called = cover(waiting, ARGV[3], now, now)
elseif earliest < math.huge then
  called = cover_earlier(ARGV[3], earliest, now)
end

-- Needs no memory: after it, nothing is refused when memory is full.
redis.call('ZREM', delayed, '')
rehearse(calls, leased, first)
keep_promises(waiting, called)
local reply = { struct.pack('<d', now) }
for i = 1, count do
  local at = 3 + (i - 1) * 3
  local id, action = ARGV[at + 1], ARGV[at + 2]
  local was, due = 0, 0
  if action == 'z' or action == 'w' then
    was = paused and 1 or 0
    paused = action == 'z'
    if paused then
      redis.call('HSET', config, 'paused', '1')
    else
      redis.call('HDEL', config, 'paused')
    end
  else
    local pending, priority = find_delayed(id)
    was = pending and 1 or redis.call('ZSCORE', leased, id) and 2 or 0
    if action == 'c' or (action == 'e' and was ~= 2) then
      remove_delayed(id)
      redis.call('ZREM', leased, id)
      redis.call('HDEL', messages, id)
      redis.call('HDEL', state, id)
      local member = member_of(id)
      if member then
        redis.call('ZREM', letters, member)
      end
      if remembers then
        if was == 0 and remembered_until(id, now) then
          was = 4
        end
        redis.call('ZREM', seen, id)
      end
    elseif action == 'e' or not pending then
      due = 0
    elseif dues[i] > MAX_EXACT then
      was = 3
    else
      due = action == 'p' and math.min(dues[i], tonumber(pending)) or dues[i]
      local record = read_record(redis.call('HGET', state, id), tonumber(pending), priority)
      record.due = due
      if record.attempts == 0 then
        record.first_due = due
      end
      redis.call('HSET', state, id, write_record(record))
      redis.call('ZADD', delayed_set(priority), due, id)
    end
  end
  if (was == 0 or was == 4) and string.find(action, '^[cdap]$') then
    local all = letters_of(dead_letters, dead_messages, id)
    if #all > 0 then
      was, due = DEAD_AND + #all, tonumber(all[1])
    end
  end
  reply[i + 1] = struct.pack('<Bd', was, due)
end
reply = table.concat(reply)
remember(calls, lane, sequence, now, reply, first)
return reply
