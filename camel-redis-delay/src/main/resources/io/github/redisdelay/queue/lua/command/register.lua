-- Notes in the registry of queues that a queue is used. May be executed any number of times. Nothing depends on it.
--
-- KEYS  queues
-- ARGV  1 the queue's name
-- Reply bytes: nothing
-- Errors  argument: nothing is changed
-- Cost  O(log N)
--
-- queues: sorted set of the names of all queues -> when each was last used. Those that were not used for 400 days are
-- dropped, and beyond 10 000 those that were not used for the longest time, a few in each call. The key expires with the
-- last of them.

--@include call.lua
--@include clock.lua

local KEPT_SECONDS = 400 * 86400
local MOST = 10000

local name = ARGV[1]
if name == '' or #name > 200 then
  error('REDISDELAY argument: queue name')
end
local now = clock_now
-- The first write needs no memory: after it, nothing is refused when memory is full.
redis.call('ZREMRANGEBYSCORE', key_queues, '-inf', string.format('%.0f', now - KEPT_SECONDS * 1000000))
redis.call('ZADD', key_queues, string.format('%.0f', now), name)
local excess = redis.call('ZCARD', key_queues) - MOST
if excess > 0 then
  local oldest = redis.call('ZRANGE', key_queues, 0, math.min(excess, 100) - 1)
  redis.call('ZREM', key_queues, unpack(oldest))
end
redis.call('EXPIRE', key_queues, KEPT_SECONDS)
return ''
