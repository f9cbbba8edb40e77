-- Extends leases.
--
-- KEYS  1 messages  2 delayed  3 leased  4 state  5 sessions  6 config
-- ARGV  1 session  2 sequence
--       then three for each delivery, at most 256:
--         id
--         claim id (16 bytes)
--         for how long from now, in microseconds
-- Reply bytes: struct 'd' time of the call, then for each delivery 'Bd' outcome and when the lease expires (0: there is
--       none)
--         1 done  2 stale: the message is gone  3 stale: it waits, or another delivery holds it
-- Errors  argument, format, superseded: nothing is changed
-- Cost  O(log N) for each delivery

--@include call.lua
--@include session.lua
--@include record.lua

local messages, leased, state, config = KEYS[1], KEYS[3], KEYS[4], KEYS[6]
local count = call_items(2, 3, 'deliveries')
local now, stored = session_begin('hzzhhh', '')
if stored then
  return stored
end
call_check_format(redis.call('HGET', config, 'format'))

local ids, claims, leases = {}, {}, {}
for i = 1, count do
  local at = 2 + (i - 1) * 3
  ids[i], claims[i] = ARGV[at + 1], ARGV[at + 2]
  if #ids[i] == 0 or #claims[i] ~= 16 or claims[i] == RECORD_NO_CLAIM then
    error('REDISDELAY argument: delivery ' .. i)
  end
  leases[i] = call_integer(ARGV[at + 3], 1, CALL_MAX_EXACT, 'lease of delivery ', i)
end
local held = record_which_are_held(leased, state, ids, claims)
local outcomes = {}
for i = 1, count do
  outcomes[i] = held[i] and 1 or redis.call('HEXISTS', messages, ids[i]) == 1 and 3 or 2
end

-- The first write needs no memory: after it, nothing is refused when memory is full.
redis.call('ZREM', leased, '')
local reply = { struct.pack('<d', now) }
for i = 1, count do
  local expires = 0
  if held[i] then
    expires = math.min(now + leases[i], CALL_MAX_EXACT)
    redis.call('ZADD', leased, expires, ids[i])
  end
  reply[i + 1] = struct.pack('<Bd', outcomes[i], expires)
end
return session_end(now, table.concat(reply))
