-- Records the number of a queue's partitions if none is recorded, and answers the number that holds. May be repeated.
--
-- KEYS  config, dead:config, messages, dead:messages, seen: those whose tag is the queue's name alone
-- ARGV  1 the number of partitions with which the client works
-- Reply bytes: digits, the number of partitions that the queue has
-- Errors  argument, config, needs
-- Cost  O(log N)
--
-- config and dead config: partitions (the number; see queue.lua). Both have it, so that a call about dead letters is refused
-- as well; one that was lost is written again. The count 1 is stored in the dead config only, so that plain.lua sees a queue
-- without config. If neither has it, keys that hold anything are a queue with 1 partition. A record that nobody asks about for
-- 30 days expires; that of paused dead letters is kept, see pause.lua.

--@include call.lua
--@include clock.lua
--@include check.lua

local own = check_integer(ARGV[1], 1, 64, 'number of partitions')

local found = redis.call('HMGET', key_config, 'needs', 'partitions')
check_needs(found[1])
local recorded = found[2] or redis.call('HGET', key_dead_config, 'partitions')
if recorded and not string.find(recorded, '^[1-9]%d?$') then
  error('REDISDELAY config: partitions')
end
local used = redis.call('HLEN', key_config) + redis.call('HLEN', key_dead_config) + redis.call('HLEN', key_messages)
  + redis.call('HLEN', key_dead_messages) + redis.call('ZCOUNT', key_seen, clock_now, '+inf') > 0
local holds = recorded or used and '1' or string.format('%.0f', own)

local kept = redis.call('HEXISTS', key_dead_config, 'paused') == 1
local function expire()
  if not kept then
    redis.call('EXPIRE', key_dead_config, CALL_IDLE_SECONDS)
  end
  if holds ~= '1' then
    redis.call('EXPIRE', key_config, CALL_IDLE_SECONDS)
  end
end
-- These need no memory, and tell a user who may not do them before anything is changed.
redis.call('HDEL', key_config, '')
expire()
redis.call('HSET', key_dead_config, 'partitions', holds)
if holds ~= '1' then
  redis.call('HSET', key_config, 'partitions', holds)
end
expire()
return holds
