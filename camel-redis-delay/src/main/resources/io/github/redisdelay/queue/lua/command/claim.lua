-- Leases due messages, and messages whose lease ended, to a consumer, and tells when the next thing will happen.
--
-- KEYS  1 to 16 see queue.lua  17 see wakeup.lua
-- ARGV  1 lane  2 sequence  3 claim id (16 bytes)  4 length of the lease in microseconds
--       5 how many messages, 0 to 256  6 how many of them may be ones whose lease ended  7 how many bytes of bodies
--       8 the queue's base key  9 the consumer's member of the waiting room, or nothing: it has none
--       10 how it goes on: d it does not wait for more; l it waits until it is given what it asks for; w so, and it wants more as soon as it can; k it
--         keeps waiting in any case, as it has room for more; q it is quick and has room again in a moment
--       11 its safety interval in microseconds
-- Reply  a list: head; struct 'I4' the length of each id, and then of each state record (see record.lua); the ids in one
--        string; the state records in one string; then the bodies, and the ids that had no body and were dropped. So a
--        client has to take apart few elements
--        head: struct 'ddddIII' time of the call, microseconds until the next message is due and until the next lease
--        ends (0: now, -1: there is none, or the queue is paused), its safety interval in microseconds, number of
--        messages, number of dropped ids, and when this consumer is expected: 0 not before its safety interval is over
--        1 by the next event  2 by 10 ms after it  3 when it wants to, it is not in the waiting room
-- Cost  O(log N) for each message claimed; O(log N) if there is none
--
-- The highest priority comes first; within one, both kinds are merged by time. Of ended leases, 256 are looked at. At least
-- one message is given if there is one, however large. A paused queue gives nothing.
-- One whose last two deliveries ended by a lost lease is given alone: if it kills its consumer, no other message that
-- was claimed with it and not begun loses an attempt.
-- Who asks for 0 messages leaves the waiting room.
-- A repeat of the call gives the messages that are still leased under its claim id.
-- Attempts are counted here, so that a message that kills its consumer each time uses them up too.

--@include session.lua
--@include record.lua
--@include queue.lua
--@include wakeup.lua

local lane, claim = ARGV[1], ARGV[3]
local sequence = integer(ARGV[2], 1, MAX_EXACT, 'sequence')
local lease = integer(ARGV[4], 1, MAX_EXACT, 'lease')
local wanted = integer(ARGV[5], 0, 256, 'messages')
local wanted_ended = integer(ARGV[6], 0, 256, 'ended leases')
local max_bytes = integer(ARGV[7], 1, MAX_EXACT, 'bytes')
local base, member, goes_on = ARGV[8], ARGV[9], ARGV[10]
local safety_interval = integer(ARGV[11], 1, MAX_EXACT, 'safety interval')
if not string.find(goes_on, '^[dlwkq]$') then
  error('REDISDELAY argument: how it goes on')
end
if #claim ~= 16 or claim == NO_CLAIM then
  error('REDISDELAY argument: claim id')
end

-- Where many wait, somebody comes all the time, and each of them needs to come less often: with more than this number
-- the safety interval grows in proportion, up to so many times.
local MANY, LONGEST = 10, 3
local MANY_RECORDS, LARGE = 16, string.rep(' ', 65)
local NOT_BEFORE_SAFETY, BY_EVENT, BY_SECOND, LEFT = 0, 1, 2, 3

-- There is more due than this claim gave: one more consumer comes every 10 ms for as long as that is so.
local function cover_backlog(now)
  local next = redis.call('ZRANGEBYSCORE', waiting, now + 1, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
  if next[1] and tonumber(next[2]) > now + SECOND then
    redis.call('ZADD', waiting, call_consumer(next[1], base, SECOND) and now + SECOND or 0, next[1])
  end
end

-- What this consumer promises after its claim, and what others have to. Who was given nothing, or is quick, goes on
-- itself: that wakes nobody. Who was given work lets those come first who have waited. See wakeup.lua for the rule.
local function promise(now, event, given)
  if #member == 0 then
    return LEFT
  end
  local others, found = {}, promises(waiting, now, 0, 3)
  for i = 1, #found, 2 do
    if found[i] ~= member then
      others[#others + 1] = tonumber(found[i + 1])
    end
  end
  -- Nobody else could come: it does, as soon as it can.
  local alone = not others[1]
  if wanted == 0 or goes_on == 'd' or (given == wanted and (goes_on == 'l' or (goes_on == 'w' and not alone))) then
    redis.call('ZREM', waiting, member)
    keep_promises(waiting, event and cover(waiting, base, event, now))
    return LEFT
  end
  local role, mine = NOT_BEFORE_SAFETY, math.huge
  local more_due = event and event <= now
  local p1, p2
  if event then
    event = math.max(event, now)
    local times = counted(waiting, event, now, member, found)
    p1, p2 = times[1] or math.huge, times[2] or math.huge
    local itself = given == 0 or goes_on == 'q'
    if more_due or alone or (itself and p1 > event) then
      role, mine = BY_EVENT, event
    elseif not others[2] or (itself and p2 > event + SECOND) then
      role, mine = BY_SECOND, event + SECOND
    end
  end
  if role == NOT_BEFORE_SAFETY and others[2] then
    safety_interval = math.floor(safety_interval
      * math.max(1, math.min(redis.call('ZCARD', waiting) / MANY, LONGEST)))
  end
  mine = math.min(mine, now + safety_interval)
  redis.call('ZADD', waiting, mine, member)
  if more_due then
    cover_backlog(now)
  elseif event and not alone
      and (math.min(mine, p1) > event or (mine <= p1 and p1 or math.min(mine, p2)) > event + SECOND) then
    keep_promises(waiting, cover(waiting, base, event, now))
  end
  if given == 0 then
    redis.call('EXPIRE', waiting, UNUSED_SECONDS)
  end
  return role
end

-- Microseconds until a time; -1 if there is none.
local function wait_for(time, now)
  return time and math.max(0, time - now) or -1
end

local function first_lease_end()
  return tonumber(redis.call('ZRANGE', leased, '0', '0', 'WITHSCORES')[2])
end

local function reply_with(now, ids, records, dropped, ends, repeats)
  local due, role
  if paused then
    ends = nil
  else
    due = first_due()
  end
  if repeats then
    -- What it promised may have been removed meanwhile: it claims again, and promises anew.
    role = LEFT
  else
    local event = (due and ends) and math.min(due, ends) or due or ends
    role = promise(now, event, #ids)
  end
  local reply = { struct.pack('<ddddIII', now, wait_for(due, now), wait_for(ends, now), safety_interval, #ids, #dropped, role) }
  local n = #ids
  if n > 0 then
    local lengths = {}
    for i = 1, n do
      lengths[i] = #ids[i]
      lengths[n + i] = #records[i]
    end
    local bodies = redis.call('HMGET', messages, unpack(ids))
    reply[2] = struct.pack('<' .. string.rep('I4', 2 * n), unpack(lengths))
    reply[3] = table.concat(ids)
    reply[4] = table.concat(records, '', 1, n)
    for i = 1, n do
      reply[4 + i] = bodies[i]
    end
  else
    reply[2], reply[3], reply[4] = '', '', ''
  end
  for i = 1, #dropped do
    reply[4 + n + i] = dropped[i]
  end
  return reply
end

local now = server_time()
local stored, first = repeated(calls, lane, sequence, now)
read_config()
if stored then
  local ids, records = {}, {}
  for _, id in ipairs(cmsgpack.unpack(stored)) do
    local held, bytes = holds(leased, state, id, claim)
    if held and redis.call('HEXISTS', messages, id) == 1 then
      ids[#ids + 1] = id
      records[#records + 1] = bytes
    end
  end
  return reply_with(now, ids, records, {}, first_lease_end(), true)
end
if first and #member > 0 then
  -- What is not allowed is refused now, when nothing is half done.
  call_consumer(member, base, safety_interval)
end

-- What is claimed: ids, times, priorities above 0, and the records of those whose lease ended.
local ids, times, levels, lost_records = {}, {}, {}, {}
-- When the first lease ends that there was before.
local first_end = first_lease_end()
local dropped, bytes = {}, 0

-- Takes one, unless its body is missing; false if it is too large for this claim. One without an id, which only others can
-- have written, counts as one without a body: no call could finish it.
local function take(id, time, level, lost_record)
  local length = redis.call('HSTRLEN', messages, id)
  if length == 0 or id == '' then
    dropped[#dropped + 1] = id
    return true
  end
  local n = #ids + 1
  if n > 1 and bytes + length > max_bytes then
    return false
  end
  bytes = bytes + length
  ids[n], times[n], levels[n], lost_records[n] = id, time, level, lost_record
  return true
end

-- The due messages of one priority: ids and times, alternating.
local function find_due(priority)
  return redis.call('ZRANGEBYSCORE', delayed_set(priority), '-inf', now, 'WITHSCORES', 'LIMIT', 0, wanted)
end

-- Those whose lease ended, by priority: lists of ids, times and records in the order of their times; nil if there are none.
local function find_ended()
  if wanted_ended == 0 or not first_end or first_end > now then
    return nil
  end
  local found = redis.call('ZRANGEBYSCORE', leased, '-inf', now, 'WITHSCORES', 'LIMIT', 0,
    #priorities > 0 and 256 or wanted_ended)
  local ended
  for i = 1, #found, 2 do
    local time = tonumber(found[i + 1])
    local record = read_record(redis.call('HGET', state, found[i]), time, 0)
    local level = waiting_priority(record)
    ended = ended or {}
    ended[level] = ended[level] or {}
    table.insert(ended[level], { id = found[i], time = time, record = record })
  end
  return ended
end

-- Takes those of one priority, merged by time.
local function merge(priority, due, lost)
  local w, l = 1, 1
  while #ids < wanted and (due[w] or (lost[l] and wanted_ended > 0)) do
    local next = lost[l]
    if next and wanted_ended > 0 and (not due[w] or next.time < tonumber(due[w + 1])) then
      l = l + 1
      wanted_ended = wanted_ended - 1
      if not take(next.id, next.time, priority, next.record) then
        return false
      end
    else
      w = w + 2
      if not take(due[w - 2], tonumber(due[w - 1]), priority) then
        return false
      end
    end
  end
  return true
end

if not paused and wanted > 0 then
  local ended = find_ended()
  if ended or #priorities > 0 then
    for priority = 9, 0, -1 do
      local used = priority == 0
      for i = 1, #priorities do
        used = used or priorities[i] == priority
      end
      if (used or (ended and ended[priority]))
          and not merge(priority, used and find_due(priority) or {}, ended and ended[priority] or {}) then
        break
      end
    end
  else
    -- The usual case, and the fast one: the same as take, without its cost.
    local due, n = find_due(0), 0
    for i = 1, #due, 2 do
      local id = due[i]
      local length = redis.call('HSTRLEN', messages, id)
      if length == 0 or id == '' then
        dropped[#dropped + 1] = id
      elseif n > 0 and bytes + length > max_bytes then
        break
      else
        n = n + 1
        bytes = bytes + length
        ids[n], times[n] = id, tonumber(due[i + 1])
      end
    end
  end
end

local records = {}
if #ids > 0 then
  local given = #ids
  local found = redis.call('HMGET', state, unpack(ids))
  local heads, pack = {}, struct.pack
  for i = 1, given do
    local level = levels[i] or 0
    if not found[i] and not lost_records[i] then
      -- The first delivery of a message: what write_record would make of it, but for its times the same for all.
      heads[level] = heads[level] or struct.pack('<BBBBI4c16', 1, 0, 0, level, 1, claim)
      local packed = pack('<d', times[i])
      records[i] = heads[level] .. packed .. packed
    else
      local record = lost_records[i]
      if record then
        record.lost = math.min(record.lost + 1, 255)
        record.reason = 2
      else
        record = read_record(found[i], times[i], level)
        record.due = times[i]
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
  end
  for i = #ids, given + 1, -1 do
    ids[i] = nil
  end
end

local states = (#ids >= MANY_RECORDS or #dropped > 0) and redis.call('HLEN', state)

-- Needs no memory: after it, nothing is refused when memory is full. Also checks the kind of the key.
redis.call('ZREMRANGEBYSCORE', waiting, '-inf', now - OVERDUE - 1)
rehearse(calls, leased, first)
if #ids > 0 then
  local leases, fields = {}, {}
  local expires = string.format('%.0f', math.min(now + lease, MAX_EXACT))
  for i = 1, #ids do
    leases[2 * i - 1], leases[2 * i] = expires, ids[i]
    fields[2 * i - 1], fields[2 * i] = ids[i], records[i]
  end
  redis.call('ZREM', delayed, unpack(ids))
  for i = 1, #priorities do
    redis.call('ZREM', delayed_set(priorities[i]), unpack(ids))
  end
  redis.call('ZADD', leased, unpack(leases))
  local new_table = states == 0 and #ids >= MANY_RECORDS
  if new_table then
    -- A field too large for a list makes it a table from the start. Measured: 0.4 instead of 1.2 us for each record.
    redis.call('HSET', state, '', LARGE)
  end
  redis.call('HSET', state, unpack(fields))
  if new_table then
    redis.call('HDEL', state, '')
  end
end
if #dropped > 0 then
  redis.call('ZREM', delayed, unpack(dropped))
  for i = 1, #priorities do
    redis.call('ZREM', delayed_set(priorities[i]), unpack(dropped))
  end
  redis.call('ZREM', leased, unpack(dropped))
  redis.call('HDEL', state, unpack(dropped))
  redis.call('HDEL', messages, unpack(dropped)) -- an empty one
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
remember(calls, lane, sequence, now, cmsgpack.pack(ids), first)
if (first_end and first_end <= now) or #dropped > 0 then
  first_end = first_lease_end()
elseif #ids > 0 then
  first_end = math.min(first_end or math.huge, now + lease, MAX_EXACT)
end
return reply_with(now, ids, records, dropped, first_end, false)
