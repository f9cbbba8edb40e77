-- Looks for the dead letters of a message. Changes nothing.
--
-- KEYS  1 index of the dead letters, see index.lua  2 dead messages  3 config
-- ARGV  1 the message's id  2 the digits of one dead letter, which is looked for alone; or nothing
-- Reply  a list: the digits of each, the newest first, at most 100
-- Cost  O(log N) and one step for each

--@include session.lua
--@include index.lua

local letters, dead_messages = KEYS[1], KEYS[2]
local id, digits = ARGV[1], ARGV[2]
if #id == 0 or not digits then
  error('REDISDELAY argument: message')
end
check_format(redis.call('HGET', KEYS[3], 'format'))
if #digits == 0 then
  return letters_of(letters, dead_messages, id)
end
return redis.call('HEXISTS', dead_messages, id .. '@' .. digits) == 1 and { digits } or {}
