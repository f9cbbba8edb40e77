-- Finds the dead letters of a message. Changes nothing.
--
-- KEYS  1 dead index, see index.lua  2 dead messages  3 config
-- ARGV  1 the message's id  2 the digits of one dead letter, to look for that one only; or nothing
-- Reply  a list: the digits of each dead letter, the newest first, at most 100
-- Errors  argument, format
-- Cost  O(log N) and one step for each

--@include call.lua
--@include index.lua

local index, dead_messages = KEYS[1], KEYS[2]
local id, digits = ARGV[1], ARGV[2]
if #id == 0 or not digits then
  error('REDISDELAY argument: message')
end
call_check_format(redis.call('HGET', KEYS[3], 'format'))
if #digits == 0 then
  return index_find(index, dead_messages, id)
end
return redis.call('HEXISTS', dead_messages, id .. '@' .. digits) == 1 and { digits } or {}
