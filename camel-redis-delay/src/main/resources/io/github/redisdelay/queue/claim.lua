-- Leases due messages, and messages whose lease ended, to a consumer, and tells when the next thing will happen.
--
-- KEYS  1 messages  2 delayed  3 leased  4 state  5 calls  6 config
-- ARGV  1 lane  2 sequence  3 claim id (16 bytes)  4 length of the lease in microseconds
--       5 how many messages, 1 to 256  6 how many of them may be ones whose lease ended  7 how many bytes of bodies
-- Reply  a list: head, then the ids, then the bodies, then the state records (see record.lua), then the ids that had no
--        body and were dropped
--        head: struct 'dddII' time of the call, microseconds until the next message is due and until the next lease
--        ends (0: now, -1: there is none), number of messages, number of dropped ids
-- Cost  O(log N) for each message claimed; O(log N) if there is none
--
-- Both kinds are merged by time. At least one message is given if there is one, however large.
-- One whose last two deliveries ended by a lost lease is given alone: if it kills its consumer, no other message that
-- was claimed with it and not begun loses an attempt.
-- A repeat of the call gives the messages that are still leased under its claim id.
-- Attempts are counted here, so that a message that kills its consumer each time uses them up too.

--@include call.lua
--@include record.lua

local messages, delayed, leased, state, calls, config = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local lane, claim = ARGV[1], ARGV[3]
local sequence = integer(ARGV[2], 1, MAX_EXACT, 'sequence')
local lease = integer(ARGV[4], 1, MAX_EXACT, 'lease')
local wanted = integer(ARGV[5], 1, 256, 'messages')
local wanted_ended = integer(ARGV[6], 0, 256, 'ended leases')
local max_bytes = integer(ARGV[7], 1, MAX_EXACT, 'bytes')
if #claim ~= 16 or claim == NO_CLAIM then
  error('REDISDELAY argument: claim id')
end

-- Microseconds until the first score of a set, from a reply of ZRANGE ... WITHSCORES; -1 if it is empty.
local function wait_for(head, now)
  if not head[2] then
    return -1
  end
  return math.max(0, tonumber(head[2]) - now)
end

local function reply_with(now, ids, records, dropped)
  local next_due = wait_for(redis.call('ZRANGE', delayed, 0, 0, 'WITHSCORES'), now)
  local next_end = wait_for(redis.call('ZRANGE', leased, 0, 0, 'WITHSCORES'), now)
  local reply = { struct.pack('<dddII', now, next_due, next_end, #ids, #dropped) }
  local n = 1
  for i = 1, #ids do
    reply[n + i] = ids[i]
  end
  n = n + #ids
  if #ids > 0 then
    local bodies = redis.call('HMGET', messages, unpack(ids))
    for i = 1, #ids do
      reply[n + i] = bodies[i]
      reply[n + #ids + i] = records[i]
    end
    n = n + 2 * #ids
  end
  for i = 1, #dropped do
    reply[n + i] = dropped[i]
  end
  return reply
end

local now = server_time()
local stored, first = repeated(calls, lane, sequence)
if stored then
  local ids, records = {}, {}
  local at = 1
  while at <= #stored do
    local length = struct.unpack('<I2', stored, at)
    local id = string.sub(stored, at + 2, at + 1 + length)
    at = at + 2 + length
    local held, bytes = holds(leased, state, id, claim)
    if held and redis.call('HEXISTS', messages, id) == 1 then
      ids[#ids + 1] = id
      records[#records + 1] = bytes
    end
  end
  return reply_with(now, ids, records, {})
end
check_format(config)
redis.call('HLEN', messages)
redis.call('HLEN', state)

local due = redis.call('ZRANGEBYSCORE', delayed, '-inf', now, 'WITHSCORES', 'LIMIT', 0, wanted)
local ended = redis.call('ZRANGEBYSCORE', leased, '-inf', now, 'WITHSCORES', 'LIMIT', 0, wanted_ended)
local ids, scores, was_leased, dropped = {}, {}, {}, {}
local bytes = 0
local d, e = 1, 1
while #ids < wanted and (due[d] or ended[e]) do
  local from_lease = ended[e] and (not due[d] or tonumber(ended[e + 1]) < tonumber(due[d + 1]))
  local id = from_lease and ended[e] or due[d]
  local length = redis.call('HSTRLEN', messages, id)
  if length > 0 and #ids > 0 and bytes + length > max_bytes then
    break
  end
  if length == 0 then
    dropped[#dropped + 1] = id
  else
    bytes = bytes + length
    ids[#ids + 1] = id
    scores[#ids] = tonumber(from_lease and ended[e + 1] or due[d + 1])
    was_leased[#ids] = from_lease
  end
  if from_lease then
    e = e + 2
  else
    d = d + 2
  end
end

local records = {}
if #ids > 0 then
  local given = #ids
  local found = redis.call('HMGET', state, unpack(ids))
  for i = 1, #ids do
    local record = read_record(found[i], scores[i])
    if was_leased[i] then
      record.lost = math.min(record.lost + 1, 255)
      record.reason = 2
    else
      record.due = scores[i]
    end
    if record.lost >= 2 then
      given = math.max(1, i - 1)
      if i > 1 then
        break
      end
    end
    record.attempts = record.attempts + 1
    record.claim = claim
    records[i] = write_record(record)
    if i == given then
      break
    end
  end
  for i = #ids, given + 1, -1 do
    ids[i] = nil
  end
end

-- Needs no memory: after it, nothing is refused when memory is full.
redis.call('ZREM', delayed, '')
rehearse(calls, leased)
local names = {}
if #ids > 0 then
  redis.call('ZREM', delayed, unpack(ids))
  local leases, states = {}, {}
  local expires = string.format('%.0f', math.min(now + lease, MAX_EXACT))
  for i = 1, #ids do
    leases[2 * i - 1], leases[2 * i] = expires, ids[i]
    states[2 * i - 1], states[2 * i] = ids[i], records[i]
    names[i] = struct.pack('<I2', #ids[i]) .. ids[i]
  end
  redis.call('ZADD', leased, unpack(leases))
  redis.call('HSET', state, unpack(states))
end
if #dropped > 0 then
  redis.call('ZREM', delayed, unpack(dropped))
  redis.call('ZREM', leased, unpack(dropped))
  redis.call('HDEL', state, unpack(dropped))
end
remember(calls, lane, sequence, now, table.concat(names), first)
return reply_with(now, ids, records, dropped)
