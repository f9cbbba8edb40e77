-- Drops the oldest dead letters that are too old or too many, at most 100. May be executed any number of times.
--
-- KEYS  dead:messages, dead:delayed, dead:state, config, dead:index (see index.lua)
-- ARGV  1 for how many microseconds a dead letter is kept, 0 for ever  2 how many are kept, 0 for any number
-- Reply bytes: struct 'd' how many were dropped
-- Errors  argument, needs: nothing is changed
-- Cost  O(log N) for each one dropped; O(log N) if there is none
--
-- Dead letters that a consumer holds are left alone.

--@include call.lua
--@include clock.lua
--@include check.lua
--@include index.lua

local retention = check_integer(ARGV[1], 0, CALL_MAX_EXACT, 'retention')
local maximum = check_integer(ARGV[2], 0, CALL_MAX_EXACT, 'maximum')
check_needs(redis.call('HGET', key_config, 'needs'))
redis.call('HLEN', key_dead_messages)
redis.call('HLEN', key_dead_state)
redis.call('ZCARD', key_dead_index)

local ids = {}
if retention > 0 then
  ids = redis.call('ZRANGEBYSCORE', key_dead_delayed, '-inf', clock_now - retention, 'LIMIT', 0, 100)
end
local excess = maximum > 0 and math.min(100, redis.call('ZCARD', key_dead_delayed) - maximum) or 0
if excess > #ids then
  -- Those that are too old are the first of these.
  ids = redis.call('ZRANGE', key_dead_delayed, 0, excess - 1)
end
-- These need no memory, and tell a user who may not do them before anything is changed.
redis.call('HDEL', key_dead_messages, '')
redis.call('ZREM', key_dead_delayed, '')
if #ids > 0 then
  redis.call('HDEL', key_dead_messages, unpack(ids))
  redis.call('HDEL', key_dead_state, unpack(ids))
  redis.call('ZREM', key_dead_delayed, unpack(ids))
  index_forget(key_dead_index, ids)
end
return struct.pack('<d', #ids)
