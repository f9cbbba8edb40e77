-- Drops the oldest dead letters that are too old or too many, 100 at the most. It does not matter how often it is executed.
--
-- KEYS  1 dead messages  2 dead delayed  3 dead state  4 config  5 index of the dead letters, see index.lua
-- ARGV  1 for how many microseconds a dead letter is kept, 0 for ever  2 how many are kept, 0 for any number
-- Reply bytes: struct 'd' how many were dropped
-- Cost  O(log N) for each one dropped; O(log N) if there is none
--
-- Those that a consumer of dead letters holds are left alone.

--@include session.lua
--@include index.lua

local messages, delayed, state, letters = KEYS[1], KEYS[2], KEYS[3], KEYS[5]
local retention = integer(ARGV[1], 0, MAX_EXACT, 'retention')
local maximum = integer(ARGV[2], 0, MAX_EXACT, 'maximum')
check_format(redis.call('HGET', KEYS[4], 'format'))
redis.call('HLEN', messages)
redis.call('HLEN', state)
redis.call('ZCARD', letters)

local ids = {}
if retention > 0 then
  ids = redis.call('ZRANGEBYSCORE', delayed, '-inf', server_time() - retention, 'LIMIT', 0, 100)
end
local excess = maximum > 0 and math.min(100, redis.call('ZCARD', delayed) - maximum) or 0
if excess > #ids then
  -- The oldest ones, too: the first of these are those.
  ids = redis.call('ZRANGE', delayed, 0, excess - 1)
end
-- These need no memory, and tell a user who may not do them before anything is changed.
redis.call('ZREM', delayed, '')
redis.call('HDEL', messages, '')
if #ids > 0 then
  redis.call('ZREM', delayed, unpack(ids))
  redis.call('HDEL', messages, unpack(ids))
  redis.call('HDEL', state, unpack(ids))
  local members = members_of(ids)
  if #members > 0 then
    redis.call('ZREM', letters, unpack(members))
  end
end
return struct.pack('<d', #ids)
