-- Extends leases.
--
-- KEYS  1 messages  2 leased  3 state  4 calls  5 config
-- ARGV  1 lane  2 sequence
--       then three for each delivery, at most 256:
--         id
--         claim id (16 bytes)
--         for how long from now, in microseconds
-- Reply bytes: struct 'd' time of the call, then for each delivery 'Bd' outcome and the end of the lease (0: none)
--         1 done  2 stale: the message is gone  3 stale: it waits, or another delivery holds it
-- Cost  O(log N) for each delivery

--@include session.lua
--@include record.lua

local messages, leased, state, calls, config = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local lane = ARGV[1]
local sequence = integer(ARGV[2], 1, MAX_EXACT, 'sequence')
local count = (#ARGV - 2) / 3
if count < 1 or count > 256 or count ~= math.floor(count) then
  error('REDISDELAY argument: number of deliveries')
end

local now = server_time()
local stored, first = repeated(calls, lane, sequence, now)
if stored then
  return stored
end
check_format(redis.call('HGET', config, 'format'))
redis.call('HLEN', messages)
local ids, claims, leases = {}, {}, {}
for i = 1, count do
  local at = 2 + (i - 1) * 3
  ids[i], claims[i] = ARGV[at + 1], ARGV[at + 2]
  if #ids[i] == 0 or #claims[i] ~= 16 or claims[i] == NO_CLAIM then
    error('REDISDELAY argument: delivery ' .. i)
  end
  leases[i] = integer(ARGV[at + 3], 1, MAX_EXACT, 'lease of delivery ', i)
end
local held = which_are_held(leased, state, ids, claims)

-- Needs no memory: after it, nothing is refused when memory is full.
redis.call('ZREM', leased, '')
rehearse(calls, leased, first)
local reply = { struct.pack('<d', now) }
for i = 1, count do
  local outcome, expires = 1, 0
  if held[i] then
    expires = math.min(now + leases[i], MAX_EXACT)
    redis.call('ZADD', leased, expires, ids[i])
  elseif redis.call('HEXISTS', messages, ids[i]) == 1 then
    outcome = 3
  else
    outcome = 2
  end
  reply[i + 1] = struct.pack('<Bd', outcome, expires)
end
reply = table.concat(reply)
remember(calls, lane, sequence, now, reply, first)
return reply
