-- Drops the oldest dead letters that are too old or too many, at most 100. May be executed any number of times.
--
-- KEYS  1 dead messages  2 dead delayed  3 dead state  4 config  5 dead index, see index.lua
-- ARGV  1 for how many microseconds a dead letter is kept, 0 for ever  2 how many are kept, 0 for any number
-- Reply bytes: struct 'd' how many were dropped
-- Errors  argument, format: nothing is changed
-- Cost  O(log N) for each one dropped; O(log N) if there is none
--
-- Dead letters that a consumer holds are left alone.

--@include call.lua
--@include index.lua

local messages, delayed, state, index = KEYS[1], KEYS[2], KEYS[3], KEYS[5]
local retention = call_integer(ARGV[1], 0, CALL_MAX_EXACT, 'retention')
local maximum = call_integer(ARGV[2], 0, CALL_MAX_EXACT, 'maximum')
call_check_format(redis.call('HGET', KEYS[4], 'format'))
redis.call('HLEN', messages)
redis.call('HLEN', state)
redis.call('ZCARD', index)

local ids = {}
if retention > 0 then
  ids = redis.call('ZRANGEBYSCORE', delayed, '-inf', call_time() - retention, 'LIMIT', 0, 100)
end
local excess = maximum > 0 and math.min(100, redis.call('ZCARD', delayed) - maximum) or 0
if excess > #ids then
  -- Those that are too old are the first of these.
  ids = redis.call('ZRANGE', delayed, 0, excess - 1)
end
-- These need no memory, and tell a user who may not do them before anything is changed.
redis.call('HDEL', messages, '')
redis.call('ZREM', delayed, '')
if #ids > 0 then
  redis.call('HDEL', messages, unpack(ids))
  redis.call('HDEL', state, unpack(ids))
  redis.call('ZREM', delayed, unpack(ids))
  index_forget(index, ids)
end
return struct.pack('<d', #ids)
