-- Leases due messages, and messages whose lease ended, to a consumer, and tells when the next thing will happen.
--
-- KEYS  1 to 16 see queue.lua
-- ARGV  1 lane  2 sequence  3 claim id (16 bytes)  4 length of the lease in microseconds
--       5 how many messages, 1 to 256  6 how many of them may be ones whose lease ended  7 how many bytes of bodies
-- Reply  a list: head, then the ids, then the bodies, then the state records (see record.lua), then the ids that had no
--        body and were dropped
--        head: struct 'dddII' time of the call, microseconds until the next message is due and until the next lease
--        ends (0: now, -1: there is none, or the queue is paused), number of messages, number of dropped ids
-- Cost  O(log N) for each message claimed; O(log N) if there is none
--
-- The highest priority comes first; within one, both kinds are merged by time. Of ended leases, 256 are looked at. At least
-- one message is given if there is one, however large. A paused queue gives nothing.
-- One whose last two deliveries ended by a lost lease is given alone: if it kills its consumer, no other message that
-- was claimed with it and not begun loses an attempt.
-- A repeat of the call gives the messages that are still leased under its claim id.
-- Attempts are counted here, so that a message that kills its consumer each time uses them up too.

--@include call.lua
--@include record.lua
--@include queue.lua

local lane, claim = ARGV[1], ARGV[3]
local sequence = integer(ARGV[2], 1, MAX_EXACT, 'sequence')
local lease = integer(ARGV[4], 1, MAX_EXACT, 'lease')
local wanted = integer(ARGV[5], 1, 256, 'messages')
local wanted_ended = integer(ARGV[6], 0, 256, 'ended leases')
local max_bytes = integer(ARGV[7], 1, MAX_EXACT, 'bytes')
if #claim ~= 16 or claim == NO_CLAIM then
  error('REDISDELAY argument: claim id')
end

-- Microseconds until a time; -1 if there is none.
local function wait_for(time, now)
  if not time or paused then
    return -1
  end
  return math.max(0, time - now)
end

local function reply_with(now, ids, records, dropped)
  local next_due = wait_for(first_due(), now)
  local next_end = wait_for(tonumber(redis.call('ZRANGE', leased, 0, 0, 'WITHSCORES')[2]), now)
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
read_config()
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
redis.call('HLEN', messages)
redis.call('HLEN', state)

-- What could be claimed, by priority: two lists of ids, scores and records, in the order of their times.
local due, ended = {}, {}
local highest = 0

local function add(kind, priority, candidate)
  kind[priority] = kind[priority] or {}
  table.insert(kind[priority], candidate)
  highest = math.max(highest, priority)
end

local function find_due(priority)
  local found = redis.call('ZRANGEBYSCORE', delayed_set(priority), '-inf', now, 'WITHSCORES', 'LIMIT', 0, wanted)
  for i = 1, #found, 2 do
    add(due, priority, { id = found[i], score = tonumber(found[i + 1]), priority = priority })
  end
end

local function find_ended()
  local look_at = (#priorities > 0 and wanted_ended > 0) and 256 or wanted_ended
  local found = redis.call('ZRANGEBYSCORE', leased, '-inf', now, 'WITHSCORES', 'LIMIT', 0, look_at)
  for i = 1, #found, 2 do
    local score = tonumber(found[i + 1])
    local record = read_record(redis.call('HGET', state, found[i]), score, 0)
    add(ended, waiting_priority(record), { id = found[i], score = score, record = record })
  end
end

local ids, candidates, dropped = {}, {}, {}
local bytes, full = 0, false

-- Takes those of one priority, merged by time.
local function take(priority)
  local waiting, lost = due[priority] or {}, ended[priority] or {}
  local w, l = 1, 1
  while #ids < wanted and not full and (waiting[w] or (lost[l] and wanted_ended > 0)) do
    local next = waiting[w]
    if wanted_ended > 0 and lost[l] and (not next or lost[l].score < next.score) then
      next = lost[l]
      l = l + 1
      wanted_ended = wanted_ended - 1
    else
      w = w + 1
    end
    local length = redis.call('HSTRLEN', messages, next.id)
    if length == 0 then
      dropped[#dropped + 1] = next.id
    elseif #ids > 0 and bytes + length > max_bytes then
      full = true
    else
      bytes = bytes + length
      ids[#ids + 1] = next.id
      candidates[#ids] = next
    end
  end
end

if not paused then
  find_due(0)
  for i = 1, #priorities do
    find_due(priorities[i])
  end
  find_ended()
  for priority = highest, 0, -1 do
    take(priority)
  end
end

local records = {}
if #ids > 0 then
  local given = #ids
  local found = redis.call('HMGET', state, unpack(ids))
  for i = 1, #ids do
    local record = candidates[i].record
    if record then
      record.lost = math.min(record.lost + 1, 255)
      record.reason = 2
    else
      record = read_record(found[i], candidates[i].score, candidates[i].priority)
      record.due = candidates[i].score
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
rehearse(calls, leased, first)
local names = {}
if #ids > 0 then
  local leases, states = {}, {}
  local expires = string.format('%.0f', math.min(now + lease, MAX_EXACT))
  for i = 1, #ids do
    leases[2 * i - 1], leases[2 * i] = expires, ids[i]
    states[2 * i - 1], states[2 * i] = ids[i], records[i]
    names[i] = struct.pack('<I2', #ids[i]) .. ids[i]
  end
  redis.call('ZREM', delayed, unpack(ids))
  for i = 1, #priorities do
    redis.call('ZREM', delayed_set(priorities[i]), unpack(ids))
  end
  redis.call('ZADD', leased, unpack(leases))
  redis.call('HSET', state, unpack(states))
end
if #dropped > 0 then
  redis.call('ZREM', delayed, unpack(dropped))
  for i = 1, #priorities do
    redis.call('ZREM', delayed_set(priorities[i]), unpack(dropped))
  end
  redis.call('ZREM', leased, unpack(dropped))
  redis.call('HDEL', state, unpack(dropped))
end
-- Priorities that nothing waits with any more cost no further look.
if #priorities > 0 then
  local used = {}
  for i = 1, #priorities do
    if redis.call('ZCARD', delayed_set(priorities[i])) > 0 then
      used[#used + 1] = priorities[i]
    end
  end
  if #used < #priorities then
    priorities = used
    write_priorities()
  end
end
remember(calls, lane, sequence, now, table.concat(names), first)
return reply_with(now, ids, records, dropped)
