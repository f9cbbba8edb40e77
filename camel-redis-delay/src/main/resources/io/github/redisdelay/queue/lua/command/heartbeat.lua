-- Notes that a consumer is there, or is not any more. May be executed any number of times.
--
-- KEYS  1 consumers
-- ARGV  1 the consumer's id (8 bytes)  2 its name, or nothing if it has stopped
-- Reply bytes: nothing
-- Errors  argument: nothing is changed
-- Cost  O(1)
--
-- consumers: consumer's id -> struct '<d' when it was last seen, then its name. Those not seen for a day are dropped, a few
-- in each call, and the key expires after twice that.

--@include call.lua

local consumers, id, name = KEYS[1], ARGV[1], ARGV[2]
if #id ~= 8 or #name > 4096 then
  error('REDISDELAY argument: consumer')
end
local now = call_time()
if name == '' then
  redis.call('HDEL', consumers, id)
  return ''
end
-- The first write needs no memory: after it, nothing is refused when memory is full.
redis.call('HDEL', consumers, '')
redis.call('HSET', consumers, id, struct.pack('<d', now) .. name)
local others = redis.call('HRANDFIELD', consumers, 3)
for i = 1, #others do
  local record = redis.call('HGET', consumers, others[i])
  if #record < 8 or struct.unpack('<d', record) < now - CALL_UNUSED_MICROS then
    redis.call('HDEL', consumers, others[i])
  end
end
redis.call('EXPIRE', consumers, CALL_UNUSED_SECONDS)
return ''
