-- Reads a page of the registry of queues. Changes nothing.
--
-- KEYS  queues (see register.lua)
-- ARGV  1 the most queues to tell, up to 500  2 how many to leave out before them
-- Reply for each queue, the one that was last used first: its name; when that was, a decimal number
-- Errors  argument
-- Cost  O(log N + the queues that are told)

--@include call.lua
--@include check.lua

local limit = check_integer(ARGV[1], 1, 500, 'limit')
local offset = check_integer(ARGV[2], 0, 10000, 'offset')
return redis.call('ZRANGE', key_queues, string.format('%.0f', offset), string.format('%.0f', offset + limit - 1), 'REV',
  'WITHSCORES')
