-- Notes that a consumer is there, or is not any more. May be executed any number of times.
--
-- KEYS  consumers
-- ARGV  1 the consumer's id (8 bytes)  2 the version of its client, a space, and its name; or nothing if it has stopped
--       3 when it was last seen, by an earlier reply; 0: never  4 optional: a text if such a reply has said that its entry
--       is gone
-- Reply bytes: struct '<dB' time of the call; 1 if the consumer was seen within a day and its entry is gone: Redis has lost
--       what the queue held, or a part of it, or the consumer has said farewell and this call is a late one. Then nothing is
--       changed, until the consumer, which knows, has sent argument 4
-- Errors  argument: nothing is changed
-- Cost  O(1)
--
-- consumers: consumer's id -> struct '<d' when it was last seen, then argument 2. Those not seen for a day are dropped, a few
-- in each call, and the key expires after twice that.
--     lost -> struct '<I4' when a consumer last found its entry gone, in seconds since the epoch; dropped after a day

--@include call.lua
--@include clock.lua
--@include check.lua

local id, name = ARGV[1], ARGV[2]
if #id ~= 8 or #name > 4096 then
  error('REDISDELAY argument: consumer')
end
local before = check_integer(ARGV[3], 0, CALL_MAX_EXACT, 'last seen')
local now = clock_now
local oldest = now - CALL_UNUSED_MICROS
if name == '' then
  redis.call('HDEL', key_consumers, id)
  return struct.pack('<dB', now, 0)
end
local lost = ARGV[4] ~= nil
if before > oldest and not lost and redis.call('HEXISTS', key_consumers, id) == 0 then
  return struct.pack('<dB', now, 1)
end
-- The first write needs no memory: after it, nothing is refused when memory is full.
redis.call('HDEL', key_consumers, '')
redis.call('HSET', key_consumers, id, struct.pack('<d', now) .. name)
if lost then
  redis.call('HSET', key_consumers, 'lost', struct.pack('<I4', now / 1000000))
end
local others = redis.call('HRANDFIELD', key_consumers, 3)
for i = 1, #others do
  local record = redis.call('HGET', key_consumers, others[i])
  local time = #record >= 8 and struct.unpack('<d', record)
    or others[i] == 'lost' and #record == 4 and struct.unpack('<I4', record) * 1000000 or 0
  if time < oldest then
    redis.call('HDEL', key_consumers, others[i])
  end
end
redis.call('EXPIRE', key_consumers, CALL_UNUSED_SECONDS)
return struct.pack('<dB', now, 0)
