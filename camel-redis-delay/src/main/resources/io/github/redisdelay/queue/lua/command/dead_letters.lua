-- Finds the dead letters of a message. Changes nothing.
--
-- KEYS  dead:index (see index.lua), dead:messages, config
-- ARGV  1 the message's id  2 the digits of one dead letter, to look for that one only; or nothing
-- Reply  a list: the digits of each dead letter, the newest first, at most 100
-- Errors  argument, needs
-- Cost  O(log N) and one step for each

--@include call.lua
--@include check.lua
--@include dead.lua

local id, digits = ARGV[1], ARGV[2]
if #id == 0 or not digits then
  error('REDISDELAY argument: message')
end
check_needs(redis.call('HGET', key_config, 'needs'))
if #digits == 0 then
  return dead_find(id)
end
return redis.call('HEXISTS', key_dead_messages, id .. '@' .. digits) == 1 and { digits } or {}
