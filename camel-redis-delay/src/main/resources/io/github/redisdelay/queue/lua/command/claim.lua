-- Leases due messages, and messages whose lease expired, to a consumer, and tells when the next thing will happen.
--
-- KEYS  1 to 17 see queue.lua; those of the priorities may be missing, unless the queue uses any
-- ARGV  1 session  2 sequence  3 claim id (16 bytes)  4 length of the lease in microseconds
--       5 how many messages, 0 to 256  6 how many of them may be ones whose lease expired  7 how many bytes of bodies
--       8 the queue's base key  9 the consumer's member of the waiters, or nothing: it is none
--       10 the consumer's intent: leave, it does not wait for more; fill, it waits until it is given all it asks for, then
--         it comes again when it wants to; stay, it keeps waiting, as it can take more than it asks for; quick, the same,
--         and it can take more in a moment
--       11 its safety interval in microseconds
-- Reply  a list: head; struct 'I4' the length of each id, and then of each state record (see record.lua); the ids in one
--        string; the state records in one string; then the bodies, and the ids that had no body and were dropped. So a
--        client has to take apart few elements
--        head: struct 'ddddIII' time of the call, microseconds until the next message is due and until the next lease
--        expires (0: now, -1: there is none, or the queue is paused), its safety interval in microseconds, number of
--        messages, number of dropped ids, and the consumer's duty:
--         0 NONE    it need not come before its safety interval is over
--         1 FIRST   it comes by the next event
--         2 BACKUP  it comes by 10 ms after the next event
--         3 LEFT    it comes when it wants to, it is no waiter
-- Errors  argument, config, format, keys, partitions, superseded: nothing is changed
-- Cost  O(log N) for each message claimed; O(log N) if there is none
--
-- The highest priority comes first; within one, both kinds are merged by time. Of expired leases, 256 are looked at. At
-- least one message is given if there is one, however large. A paused queue gives nothing.
-- A message whose last two deliveries ended by a lost lease is given alone: if it kills its consumer, no other message that
-- was claimed with it and not begun loses an attempt.
-- A consumer that asks for 0 messages leaves the waiters.
-- A repeat of the call gives the messages that are still leased under its claim id.
-- Attempts are counted here, so that a message that kills its consumer each time uses them up too.

--@include call.lua
--@include session.lua
--@include record.lua
--@include queue.lua
--@include wakeup.lua

local LEASE_EXPIRED = 2

local claim = ARGV[3]
local lease = call_integer(ARGV[4], 1, CALL_MAX_EXACT, 'lease')
local wanted = call_integer(ARGV[5], 0, 256, 'messages')
local wanted_expired = call_integer(ARGV[6], 0, 256, 'expired leases')
local max_bytes = call_integer(ARGV[7], 1, CALL_MAX_EXACT, 'bytes')
local base, member, intent = ARGV[8], ARGV[9], ARGV[10]
local safety_interval = call_integer(ARGV[11], 1, CALL_MAX_EXACT, 'safety interval')
if intent ~= 'leave' and intent ~= 'fill' and intent ~= 'stay' and intent ~= 'quick' then
  error('REDISDELAY argument: intent')
end
if #claim ~= 16 or claim == RECORD_NO_CLAIM then
  error('REDISDELAY argument: claim id')
end
local now, stored = session_begin(QUEUE_KINDS, '')
queue_read_config()
if session_preflight_due and not stored and #member > 0 then
  wakeup_send(member, base, safety_interval)
end

-- Packs the lengths of the first so many texts of a list.
local function pack_lengths(texts, count)
  local lengths = {}
  for i = 1, count do
    lengths[i] = #texts[i]
  end
  return struct.pack('<' .. string.rep('I4', count), unpack(lengths))
end

local function first_expiry()
  return tonumber(redis.call('ZRANGE', queue_leased, '0', '0', 'WITHSCORES')[2])
end

-- Find: ids, priorities, bodies, and the state records. Those of expired leases are tables until they are made anew.

local ids, levels, bodies, records, dropped = {}, {}, {}, {}, {}
local expires = first_expiry()
local due = queue_first_due()
if stored then
  local count = struct.unpack('<I4', stored)
  local at = 5 + 4 * count
  for i = 1, count do
    local length = struct.unpack('<I4', stored, 1 + 4 * i)
    local id = string.sub(stored, at, at + length - 1)
    at = at + length
    local held, bytes = record_is_held(queue_leased, queue_state, id, claim)
    if held and redis.call('HEXISTS', queue_messages, id) == 1 then
      ids[#ids + 1] = id
      records[#records + 1] = bytes
    end
  end
elseif not queue_paused and wanted > 0 and ((due and due <= now) or (expires and expires <= now)) then
  -- By priority: lists of ids, times and records in the order of their times.
  local expired = {}
  if wanted_expired > 0 and expires and expires <= now then
    local found = redis.call('ZRANGEBYSCORE', queue_leased, '-inf', now, 'WITHSCORES', 'LIMIT', 0,
      #queue_priorities > 0 and 256 or wanted_expired)
    for i = 1, #found, 2 do
      local time = tonumber(found[i + 1])
      local record = record_read(redis.call('HGET', queue_state, found[i]), time, 0)
      local level = record_level(record)
      expired[level] = expired[level] or {}
      table.insert(expired[level], { id = found[i], time = time, record = record })
    end
  end
  local in_use = { [0] = true }
  for i = 1, #queue_priorities do
    in_use[queue_priorities[i]] = true
  end
  -- An id is in several sets after a call that ended in its middle, and after a repair. One set by itself has it once.
  local taken = (next(expired) or #queue_priorities > 0) and {}
  local n, bytes, full = 0, 0, false
  -- Bodies are read some at once, but large ones one by one, so that few are read that are not given.
  local width = 16
  for priority = 9, 0, -1 do
    if in_use[priority] or expired[priority] then
      local due = in_use[priority] and redis.call('ZRANGEBYSCORE', queue_delayed_set(priority), '-inf', now,
        'LIMIT', 0, wanted) or {}
      local lost = expired[priority] or {}
      local d, l = 1, 1
      -- Bodies of due ones, and how many of these come before them.
      local read, from = {}, 0
      while not full and n < wanted do
        local id, record, body
        local next = lost[l]
        if next and wanted_expired > 0 and (not due[d]
            or next.time < tonumber(redis.call('ZSCORE', queue_delayed_set(priority), due[d]))) then
          id, record = next.id, next.record
          body = redis.call('HGET', queue_messages, id)
          wanted_expired = wanted_expired - 1
          l = l + 1
        elseif due[d] then
          id = due[d]
          body = read[d - from]
          if body == nil then
            read, from = redis.call('HMGET', queue_messages, unpack(due, d, math.min(d + width - 1, #due))), d - 1
            body = read[1]
          end
          d = d + 1
        else
          break
        end
        if not body or #body == 0 or id == '' then
          -- One without a body, or without an id, which only others can have written: no call could finish it.
          dropped[#dropped + 1] = id
        elseif n > 0 and bytes + #body > max_bytes then
          full = true
        elseif not (taken and taken[id]) then
          if taken then
            taken[id] = true
          end
          n = n + 1
          bytes = bytes + #body
          ids[n], bodies[n], levels[n], records[n] = id, body, priority, record
          width = #body > 32768 and 1 or width
        end
      end
    end
  end
end

-- Lease: count the attempt, and put each where it goes before it is taken away from where it was.

if not stored and #ids > 0 then
  local found = redis.call('HMGET', queue_state, unpack(ids))
  local sub, heads = string.sub, {}
  for i = 1, #ids do
    local record, level = records[i], levels[i]
    if not record and not found[i] then
      -- The first delivery of a message: what record_write would make of it, but for its due time the same for all. The score
      -- has that time as well, but to make a text of a number and a number of that takes longer than all else here.
      local head, time = heads[level], sub(bodies[i], 9, 16)
      if not head then
        head = struct.pack('<BBBBI4c16', 1, 0, 0, level, 1, claim)
        heads[level] = head
      end
      if #time < 8 then
        time = struct.pack('<d', now)
      end
      records[i] = head .. time .. time
    else
      if record then
        record.lost = math.min(record.lost + 1, 255)
        record.reason = LEASE_EXPIRED
      else
        record = record_read(found[i], now, level)
      end
      local alone = record.lost >= 2
      if not alone or i == 1 then
        record.attempts = record.attempts + 1
        record.claim = claim
        records[i] = record_write(record)
      end
      if alone then
        -- It has to be given alone: it is all of this claim, or begins another one.
        for j = #ids, math.max(1, i - 1) + 1, -1 do
          ids[j] = nil
        end
        break
      end
    end
  end
end
local n = #ids
local lengths, names = pack_lengths(ids, n), table.concat(ids)
if not stored then
  -- So many new records make a table of the state at once, by a field that is too large for a list. Measured: 0.4 instead of
  -- 1.2 us for each record.
  local new_table = #ids >= 16 and redis.call('HLEN', queue_state) == 0
  -- Needs no memory: after it, nothing is refused when memory is full.
  redis.call('ZREMRANGEBYSCORE', wakeup_waiters, '-inf', now - WAKEUP_OVERDUE_MICROS - 1)
  if #ids > 0 then
    local leases, fields = {}, {}
    local until_then = string.format('%.0f', math.min(now + lease, CALL_MAX_EXACT))
    for i = 1, #ids do
      leases[2 * i - 1], leases[2 * i] = until_then, ids[i]
      fields[2 * i - 1], fields[2 * i] = ids[i], records[i]
    end
    redis.call('ZADD', queue_leased, unpack(leases))
    for i = 0, #queue_priorities do
      redis.call('ZREM', queue_delayed_set(queue_priorities[i]), unpack(ids))
    end
    if new_table then
      redis.call('HSET', queue_state, '', string.rep(' ', 65))
    end
    redis.call('HSET', queue_state, unpack(fields))
    if new_table then
      redis.call('HDEL', queue_state, '')
    end
  end
  if #dropped > 0 then
    redis.call('HDEL', queue_messages, unpack(dropped)) -- an empty one
    redis.call('HDEL', queue_state, unpack(dropped))
    for i = 0, #queue_priorities do
      redis.call('ZREM', queue_delayed_set(queue_priorities[i]), unpack(dropped))
    end
    redis.call('ZREM', queue_leased, unpack(dropped))
  end
  -- Priorities that no message waits with any more cost no further look.
  if #queue_priorities > 0 then
    local used = { [0] = 0 }
    for i = 1, #queue_priorities do
      if redis.call('ZCARD', queue_delayed_set(queue_priorities[i])) > 0 then
        used[#used + 1] = queue_priorities[i]
      end
    end
    if #used < #queue_priorities then
      queue_priorities = used
      queue_write_priorities()
    end
  end
  -- For a repeat: how many ids, the length of each, and the ids.
  session_end(now, struct.pack('<I4', n) .. lengths .. names)
  if (expires and expires <= now) or #dropped > 0 then
    expires = first_expiry()
  elseif #ids > 0 then
    expires = math.min(expires or math.huge, now + lease, CALL_MAX_EXACT)
  end
end

-- Promise.

if queue_paused then
  due, expires = nil, nil
elseif #ids > 0 or #dropped > 0 then
  due = queue_first_due()
end
-- The promise of a repeated call may have been removed meanwhile: its consumer claims again, and promises anew.
local duty = WAKEUP_LEFT
if not stored then
  local event = (due and expires) and math.min(due, expires) or due or expires
  duty, safety_interval = wakeup_promise(base, member, intent, wanted, #ids, event, safety_interval, now)
end

-- Reply.

local reply = { struct.pack('<ddddIII', now,
  due and math.max(0, due - now) or -1, expires and math.max(0, expires - now) or -1,
  safety_interval, n, #dropped, duty), '', '', '' }
if n > 0 then
  bodies = stored and redis.call('HMGET', queue_messages, unpack(ids)) or bodies
  local record_lengths = pack_lengths(records, n)
  reply[2] = lengths .. record_lengths
  reply[3] = names
  reply[4] = table.concat(records, '', 1, n)
  for i = 1, n do
    reply[4 + i] = bodies[i]
  end
end
for i = 1, #dropped do
  reply[4 + n + i] = dropped[i]
end
return reply
