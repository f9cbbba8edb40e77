-- Reads a queue's figures. Changes nothing.
--
-- KEYS  1 delayed  2 leased  3 dead delayed  4 dead leased
-- Reply bytes: struct 'ddddddd' time of the call; messages delayed, overdue (due and not claimed), leased, dead; for how
--       many microseconds the oldest overdue message has been due (0: none is); in how many microseconds the next one
--       will be due that is not yet (-1: there is none)
-- Cost  O(log N)

local t = redis.call('TIME')
local now = tonumber(t[1]) * 1000000 + tonumber(t[2])
local oldest = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')[2]
local coming = redis.call('ZRANGEBYSCORE', KEYS[1], string.format('(%.0f', now), '+inf', 'WITHSCORES', 'LIMIT', 0, 1)[2]
return struct.pack('<ddddddd', now,
  redis.call('ZCARD', KEYS[1]),
  redis.call('ZCOUNT', KEYS[1], '-inf', now),
  redis.call('ZCARD', KEYS[2]),
  redis.call('ZCARD', KEYS[3]) + redis.call('ZCARD', KEYS[4]),
  oldest and math.max(0, now - tonumber(oldest)) or 0,
  coming and tonumber(coming) - now or -1)
