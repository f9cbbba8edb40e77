-- Stores messages with the time at which they are due.
--
-- KEYS  1 messages  2 delayed  3 leased  4 state  5 calls  6 config
-- ARGV  1 lane  2 sequence  3 wake-up channel  4 the queue's base key
--       then five for each message, at most 256:
--         id
--         two letters: d a delay or a a time; r reject, i ignore or p replace, if the id is in use
--         the delay or the time, in microseconds
--         the claim id under which the caller holds the message with this id, or nothing
--         the body
-- Reply bytes: struct 'd' time of the call, then for each message 'Bd' outcome and due time
--         1 scheduled  2 replaced  3 took the place of the delivery under way  4 in use: delayed  5 in use: leased
--         6 the due time is beyond the exact range
-- Cost  O(log N) for each message
--
-- A message is stored as struct '<d' time of scheduling, then its body. For delays the position in the call is added in
-- microseconds, so that messages come out in the order in which they were scheduled.
-- The only script that may be refused when the server's memory is full: then its first write is, and nothing is changed.

--@include call.lua
--@include record.lua

local messages, delayed, leased, state, calls, config = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local lane = ARGV[1]
local sequence = integer(ARGV[2], 1, MAX_EXACT, 'sequence')
local count = (#ARGV - 4) / 5
if count < 1 or count > 256 or count ~= math.floor(count) then
  error('REDISDELAY argument: number of messages')
end

local stored, first = repeated(calls, lane, sequence)
if stored then
  return stored
end
check_format(config)
-- Fewer bodies than ids: some were lost (to eviction, or deleted by hand), and a new message may get the id of one.
local bodies_lost = redis.call('HLEN', messages) < redis.call('ZCARD', delayed) + redis.call('ZCARD', leased)
redis.call('HLEN', state)

local now = server_time()
local dues = {}
local earliest = math.huge
for i = 1, count do
  local at = 4 + (i - 1) * 5
  local flags = ARGV[at + 2]
  if #ARGV[at + 1] == 0 or not string.find(flags, '^[da][rip]$') or (#ARGV[at + 4] ~= 0 and #ARGV[at + 4] ~= 16) then
    error('REDISDELAY argument: message ' .. i)
  end
  local due = integer(ARGV[at + 3], 0, MAX_EXACT, 'due time of message ' .. i)
  if string.byte(flags, 1) == 100 then
    due = now + due + (i - 1)
  end
  dues[i] = due
  if due <= MAX_EXACT and due < earliest then
    earliest = due
  end
end
if earliest < math.huge then
  wake_up(ARGV[3], ARGV[4], delayed, earliest, now)
end

-- The first write: refused when memory is full.
rehearse(calls, leased)
local scheduled = struct.pack('<d', now)
local reply = { scheduled }
for i = 1, count do
  local at = 4 + (i - 1) * 5
  local id, due = ARGV[at + 1], dues[i]
  local outcome
  if due > MAX_EXACT then
    outcome = 6
  elseif redis.call('HSETNX', messages, id, scheduled .. ARGV[at + 5]) == 1 then
    if bodies_lost then
      redis.call('ZREM', leased, id)
      redis.call('HDEL', state, id)
    end
    redis.call('ZADD', delayed, due, id)
    outcome = 1
  else
    local pending = redis.call('ZSCORE', delayed, id)
    local lease = not pending and redis.call('ZSCORE', leased, id)
    local holder = lease and #ARGV[at + 4] == 16 and holds(leased, state, id, ARGV[at + 4])
    if holder or string.byte(ARGV[at + 2], 2) == 112 or not (pending or lease) then
      -- Also what is in no set, as eviction leaves it behind: its id is free.
      redis.call('ZREM', leased, id)
      redis.call('HDEL', state, id)
      redis.call('HSET', messages, id, scheduled .. ARGV[at + 5])
      redis.call('ZADD', delayed, due, id)
      outcome = lease and 3 or pending and 2 or 1
    elseif pending then
      due, outcome = tonumber(pending), 4
    else
      due, outcome = tonumber(lease), 5
    end
  end
  reply[i + 1] = struct.pack('<Bd', outcome, due)
end
reply = table.concat(reply)
remember(calls, lane, sequence, now, reply, first)
return reply
