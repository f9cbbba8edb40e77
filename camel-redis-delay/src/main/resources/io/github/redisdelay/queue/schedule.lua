-- Stores messages with the time at which they are due.
--
-- KEYS  1 to 16 see queue.lua
-- ARGV  1 lane  2 sequence  3 wake-up channel  4 the queue's base key
--       then five for each message, at most 256:
--         id
--         two letters: d a delay or a a time; r reject, i ignore or p replace, if the id is in use; then, where they are
--           not the defaults, the priority (0 to 9), and a colon and how many messages the queue may hold
--         the delay or the time, in microseconds
--         the claim id under which the caller holds the message with this id, or nothing
--         the body
-- Reply bytes: struct 'd' time of the call, then for each message 'Bd' outcome and due time
--         1 scheduled  2 replaced  3 took the place of the delivery under way  4 in use: delayed  5 in use: leased
--         6 the due time is beyond the exact range  7 finished lately, instead of the due time: until when that counts
--         8 the queue is full, instead of the due time: how many messages it holds  9 a claim id was given, and the
--         message is gone: it was cancelled, or finished by another delivery, and must not come back
-- Cost  O(log N) for each message
--
-- A message is stored as struct '<d' time of scheduling, then its body. For delays the position in the call is added in
-- microseconds, so that messages come out in the order in which they were scheduled.
-- The only script that may be refused when the server's memory is full: then its first write is, and nothing is changed.

--@include call.lua
--@include record.lua
--@include queue.lua

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
read_config()
local length = redis.call('HLEN', messages)
-- Fewer bodies than ids: some were lost (to eviction, or deleted by hand), and a new message may get the id of one.
local ids = redis.call('ZCARD', delayed) + redis.call('ZCARD', leased)
for i = 1, #priorities do
  ids = ids + redis.call('ZCARD', delayed_set(priorities[i]))
end
local bodies_lost = length < ids
redis.call('HLEN', state)
local remembers = any_seen()

local now = server_time()
local dues, policies, levels, limits = {}, {}, {}, {}
local earliest = math.huge
for i = 1, count do
  local at = 4 + (i - 1) * 5
  local time, policy, level, rest = string.match(ARGV[at + 2], '^([da])([rip])([0-9]?)(.*)$')
  local limit = time and string.match(rest, '^:(%d+)$')
  if #ARGV[at + 1] == 0 or not time or (#rest > 0 and not limit) or (#ARGV[at + 4] ~= 0 and #ARGV[at + 4] ~= 16) then
    error('REDISDELAY argument: message ' .. i)
  end
  policies[i] = policy
  levels[i] = tonumber(level) or 0
  check_priority(levels[i])
  if limit then
    limits[i] = integer(limit, 1, MAX_EXACT, 'limit of message ' .. i)
  end
  local due = integer(ARGV[at + 3], 0, MAX_EXACT, 'due time of message ' .. i)
  if time == 'd' then
    due = now + due + (i - 1)
  end
  dues[i] = due
  if due <= MAX_EXACT and due < earliest then
    earliest = due
  end
end
if earliest < math.huge then
  wake_up(ARGV[3], ARGV[4], earliest, now)
end

-- The first write: refused when memory is full.
rehearse(calls, leased, first)
if remembers then
  forget_some(now)
end
local scheduled = struct.pack('<d', now)
local reply = { scheduled }
for i = 1, count do
  local at = 4 + (i - 1) * 5
  local id, due, level = ARGV[at + 1], dues[i], levels[i]
  local outcome
  -- What is in use is told as that; what may take the place of something is not asked for these.
  local until_then = remembers and policies[i] ~= 'p' and remembered_until(id, now)
  local full = limits[i] and length >= limits[i]
  local claimed = #ARGV[at + 4] == 16
  local new = (until_then or full or claimed) and redis.call('HEXISTS', messages, id) == 0
  if due > MAX_EXACT then
    outcome = 6
  elseif claimed and new and not redis.call('ZSCORE', leased, id) then
    due, outcome = 0, 9
  elseif until_then and new then
    due, outcome = until_then, 7
  elseif full and new then
    due, outcome = length, 8
  elseif redis.call('HSETNX', messages, id, scheduled .. ARGV[at + 5]) == 1 then
    if bodies_lost then
      remove_delayed(id)
      redis.call('ZREM', leased, id)
      redis.call('HDEL', state, id)
    end
    use_priority(level)
    redis.call('ZADD', delayed_set(level), due, id)
    length = length + 1
    outcome = 1
  else
    local pending, before = find_delayed(id)
    local lease = not pending and redis.call('ZSCORE', leased, id)
    local holder = lease and claimed and holds(leased, state, id, ARGV[at + 4])
    if holder or policies[i] == 'p' or not (pending or lease) then
      -- Also what is in no set, as eviction leaves it behind: its id is free.
      redis.call('ZREM', leased, id)
      redis.call('HDEL', state, id)
      redis.call('HSET', messages, id, scheduled .. ARGV[at + 5])
      if pending and before ~= level then
        redis.call('ZREM', delayed_set(before), id)
      end
      use_priority(level)
      redis.call('ZADD', delayed_set(level), due, id)
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
