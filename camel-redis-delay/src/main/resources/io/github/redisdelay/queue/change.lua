-- Cancels messages, or changes the time at which they are due.
--
-- KEYS  1 messages  2 delayed  3 leased  4 state  5 calls  6 config
-- ARGV  1 lane  2 sequence  3 wake-up channel  4 the queue's base key
--       then three for each message, at most 256:
--         id
--         c cancel, d due after a delay, or a due at a time
--         the delay or the time, in microseconds; 0 to cancel
-- Reply bytes: struct 'd' time of the call, then for each message 'Bd' where it was (0 nowhere  1 delayed  2 leased
--       3 delayed, and its new due time is beyond the exact range: unchanged) and its new due time (0: none)
-- Cost  O(log N) for each message
--
-- A cancel removes the message in any state. A new due time is given only to a delayed message.

--@include call.lua
--@include record.lua

local messages, delayed, leased, state, calls, config = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local lane = ARGV[1]
local sequence = integer(ARGV[2], 1, MAX_EXACT, 'sequence')
local count = (#ARGV - 4) / 3
if count < 1 or count > 256 or count ~= math.floor(count) then
  error('REDISDELAY argument: number of messages')
end

local stored, first = repeated(calls, lane, sequence)
if stored then
  return stored
end
check_format(config)
redis.call('HLEN', messages)
redis.call('ZCARD', leased)
redis.call('HLEN', state)

local now = server_time()
local dues = {}
local earliest = math.huge
for i = 1, count do
  local at = 4 + (i - 1) * 3
  local action = ARGV[at + 2]
  if #ARGV[at + 1] == 0 or not string.find(action, '^[cda]$') then
    error('REDISDELAY argument: message ' .. i)
  end
  local due = integer(ARGV[at + 3], 0, MAX_EXACT, 'due time of message ' .. i)
  if action == 'd' then
    due = now + due + (i - 1)
  end
  dues[i] = due
  if action ~= 'c' and due <= MAX_EXACT and due < earliest and redis.call('ZSCORE', delayed, ARGV[at + 1]) then
    earliest = due
  end
end
if earliest < math.huge then
  wake_up(ARGV[3], ARGV[4], delayed, earliest, now)
end

-- Needs no memory: after it, nothing is refused when memory is full.
redis.call('ZREM', delayed, '')
rehearse(calls, leased)
local reply = { struct.pack('<d', now) }
for i = 1, count do
  local at = 4 + (i - 1) * 3
  local id = ARGV[at + 1]
  local pending = redis.call('ZSCORE', delayed, id)
  local was = pending and 1 or redis.call('ZSCORE', leased, id) and 2 or 0
  local due = 0
  if ARGV[at + 2] == 'c' then
    redis.call('ZREM', delayed, id)
    redis.call('ZREM', leased, id)
    redis.call('HDEL', messages, id)
    redis.call('HDEL', state, id)
  elseif pending and dues[i] > MAX_EXACT then
    was = 3
  elseif pending then
    due = dues[i]
    local record = read_record(redis.call('HGET', state, id), tonumber(pending))
    record.due = due
    if record.attempts == 0 then
      record.first_due = due
    end
    redis.call('HSET', state, id, write_record(record))
    redis.call('ZADD', delayed, due, id)
  end
  reply[i + 1] = struct.pack('<Bd', was, due)
end
reply = table.concat(reply)
remember(calls, lane, sequence, now, reply, first)
return reply
