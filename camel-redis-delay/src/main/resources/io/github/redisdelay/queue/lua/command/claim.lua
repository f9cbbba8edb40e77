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
-- Reply  a list: head; struct 'I4' the length of each id, a single one if all have the same; the ids in one string; the
--        length of each state record (see record.lua), none if all messages have the same; these in one string, or that one;
--        then the bodies, and the ids that had no body and were dropped. So there are few elements to be taken apart, and
--        few bytes: Lua reads each byte of a text once more to find equal ones
--        head: struct 'ddddIII' time of the call, microseconds until the next message is due and until the next lease
--        expires (0: now, -1: there is none, -2: the queue is paused), its safety interval in microseconds, number of
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

-- Packs the lengths of the first so many texts of a list: a single one if all have the same.
local function pack_lengths(texts, count)
  local length = #(texts[1] or '')
  for i = 2, count do
    if #texts[i] ~= length then
      local lengths = {}
      for j = 1, count do
        lengths[j] = #texts[j]
      end
      return struct.pack('<' .. string.rep('I4', count), unpack(lengths))
    end
  end
  return struct.pack('<I4', length)
end

local function first_expiry()
  return tonumber(redis.call('ZRANGE', queue_leased, '0', '0', 'WITHSCORES')[2])
end

-- Find: how many messages, their ids, and of each what the reply says (its body from index 6 on) and what is to be written.

local n, ids, reply, dropped = 0, {}, { '', '', '', '', '' }, {}
local leases, fields = {}, {}
local until_then
local expires = first_expiry()
local due = queue_first_due()
if stored then
  local count, lengths = struct.unpack('<I4I4', stored)
  local at = 9 + 4 * lengths
  for i = 1, count do
    local length = struct.unpack('<I4', stored, 5 + 4 * math.min(i, lengths))
    local id = string.sub(stored, at, at + length - 1)
    at = at + length
    local held, record = record_is_held(queue_leased, queue_state, id, claim)
    local body = held and redis.call('HGET', queue_messages, id)
    if body then
      n = n + 1
      ids[n], fields[2 * n], reply[5 + n] = id, record, body
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
      local record = record_read(redis.call('HGET', queue_state, found[i]), time, 0, found[i])
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
  until_then = string.format('%.0f', math.min(now + lease, CALL_MAX_EXACT))
  local bytes, full = 0, false
  -- Bodies are read more and more at once, but large ones one by one, so that few are read that are not given.
  local width, most = 8, 64
  for priority = 9, 0, -1 do
    if in_use[priority] or expired[priority] then
      local due = in_use[priority] and redis.call('ZRANGEBYSCORE', queue_delayed_set(priority), '-inf', now,
        'LIMIT', 0, wanted) or {}
      local lost = expired[priority] or {}
      local d, l = 1, 1
      -- Bodies and state records of due ones, and how many of these come before them.
      local bodies, written, from = {}, {}, 0
      local function read_more()
        from = d - 1
        local last = math.min(from + width, #due)
        width = math.min(2 * width, most)
        bodies = redis.call('HMGET', queue_messages, unpack(due, d, last))
        written = redis.call('HMGET', queue_state, unpack(due, d, last))
      end
      -- The record of a first delivery.
      local brief = struct.pack('<BBBBI4c16', 1, 0, 0, priority, 1, claim)
      while not full and n < wanted do
        -- A short cut for plain first deliveries, which nearly all are: the code below would do the same with them.
        while not taken and due[d] do
          if bodies[d - from] == nil then
            read_more()
          end
          for i = d - from, #bodies do
            local id, body = due[d], bodies[i]
            local size = body and #body or 0
            if written[i] or size < 16 or size > 1024 or bytes + size > max_bytes or id == '' then
              break
            end
            d, n, bytes = d + 1, n + 1, bytes + size
            ids[n], reply[5 + n] = id, body
            leases[2 * n - 1], leases[2 * n] = until_then, id
            fields[2 * n - 1], fields[2 * n] = id, brief
          end
          if bodies[d - from] ~= nil then
            break
          end
        end
        local id, record, body
        local next = lost[l]
        if next and wanted_expired > 0 and (not due[d]
            or next.time < tonumber(redis.call('ZSCORE', queue_delayed_set(priority), due[d]))) then
          id, record = next.id, next.record
          body = redis.call('HGET', queue_messages, id)
          record.lost = math.min(record.lost + 1, 255)
          record.reason = LEASE_EXPIRED
          wanted_expired = wanted_expired - 1
          l = l + 1
        elseif due[d] then
          if bodies[d - from] == nil then
            read_more()
          end
          id, body = due[d], bodies[d - from]
          if written[d - from] then
            record = record_read(written[d - from], now, priority, id)
          end
          d = d + 1
        else
          break
        end
        if not body or #body == 0 or id == '' then
          -- One without a body, or without an id, which only others can have written: no call could finish it.
          dropped[#dropped + 1] = id
        elseif taken and taken[id] then
          -- It is given already.
        elseif n > 0 and (bytes + #body > max_bytes or (record and record.lost >= 2)) then
          full = true
        else
          if taken then
            taken[id] = true
          end
          n = n + 1
          bytes = bytes + #body
          if #body > 32768 then
            width, most = 1, 1
          end
          if record then
            -- One that may kill its consumer is given alone.
            full = record.lost >= 2
            record.attempts = record.attempts + 1
            record.claim = claim
            record = record_write(record)
          else
            record = brief
            if #body > 1024 or #body < 16 then
              -- Whoever needs the due times reads no large bodies for them; and another client's may have none.
              local time = #body < 16 and struct.pack('<d', now) or string.sub(body, 9, 16)
              record = brief .. time .. time
            end
          end
          ids[n], reply[5 + n] = id, body
          leases[2 * n - 1], leases[2 * n] = until_then, id
          fields[2 * n - 1], fields[2 * n] = id, record
        end
      end
    end
  end
end

-- Lease: put each where it goes before it is taken away from where it was.

local lengths, names = n > 0 and pack_lengths(ids, n) or '', table.concat(ids)
if not stored then
  -- If nothing was leased, so many leases and records make a skip list and a table at once, by a member that is too large for
  -- a list, and that is no message's. Measured: 2.1 instead of 3 us for each message.
  local too_large = n >= 16 and not expires and '\0' .. string.rep(' ', 64)
  -- Needs no memory: after it, nothing is refused when memory is full.
  redis.call('ZREMRANGEBYSCORE', wakeup_waiters, '-inf', now - WAKEUP_OVERDUE_MICROS - 1)
  if n > 0 then
    if too_large then
      redis.call('ZADD', queue_leased, until_then, too_large)
    end
    redis.call('ZADD', queue_leased, unpack(leases))
    for i = 0, #queue_priorities do
      redis.call('ZREM', queue_delayed_set(queue_priorities[i]), unpack(ids))
    end
    if too_large then
      redis.call('ZREM', queue_leased, too_large)
      redis.call('HSET', queue_state, '', too_large)
    end
    redis.call('HSET', queue_state, unpack(fields))
    if too_large then
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
  -- For a repeat: how many ids, how many lengths, these, and the ids.
  session_end(now, struct.pack('<I4I4', n, #lengths / 4) .. lengths, names)
  if (expires and expires <= now) or #dropped > 0 then
    expires = first_expiry()
  elseif n > 0 then
    expires = math.min(expires or math.huge, now + lease, CALL_MAX_EXACT)
  end
end

-- Promise.

if queue_paused then
  due, expires = nil, nil
elseif n > 0 or #dropped > 0 then
  due = queue_first_due()
end
-- The promise of a repeated call may have been removed meanwhile: its consumer claims again, and promises anew.
local duty = WAKEUP_LEFT
if not stored then
  local event = (due and expires) and math.min(due, expires) or due or expires
  duty, safety_interval = wakeup_promise(base, member, intent, wanted, n, event, safety_interval, now)
end

-- Reply.

local none = queue_paused and -2 or -1
reply[1] = struct.pack('<ddddIII', now,
  due and math.max(0, due - now) or none, expires and math.max(0, expires - now) or none,
  safety_interval, n, #dropped, duty)
if n > 0 then
  reply[2], reply[3], reply[5] = lengths, names, fields[2]
  local first, i = fields[2], 2
  while i <= n and fields[2 * i] == first do
    i = i + 1
  end
  if i <= n then
    local records = {}
    for j = 1, n do
      records[j] = fields[2 * j]
    end
    reply[4], reply[5] = pack_lengths(records, n), table.concat(records)
  end
end
for i = 1, #dropped do
  reply[5 + n + i] = dropped[i]
end
return reply
