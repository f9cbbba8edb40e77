-- Reads the registry of queues. Changes nothing.
--
-- KEYS  1 queues (see register.lua)
-- ARGV  1 the most queues to tell
-- Reply for each queue, the one that was last used first: its name; when that was, a decimal number
-- Errors  argument
-- Cost  O(log N + the queues that are told)

--@include call.lua

local limit = call_integer(ARGV[1], 1, 10000, 'limit')
return redis.call('ZRANGE', KEYS[1], string.format('%.0f', CALL_MAX_EXACT), '0', 'BYSCORE', 'REV',
  'LIMIT', '0', string.format('%.0f', limit), 'WITHSCORES')
