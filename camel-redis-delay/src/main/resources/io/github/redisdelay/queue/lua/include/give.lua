-- Included in claim.lua, in the branch where there is something to give: finds what a claim gives, and leases it. Most claims have
-- nothing to give, and to make a function takes as long as a look into a set, or longer if it uses many names from outside.
--
-- Uses the names of claim.lua, and fills ids, bodies, records and dropped.

-- The bytes of all bodies that are given; and true once no more may be given.
local give_bytes, give_full = 0, false
-- The ids that are given, or wait. An id is in several sets after a call that ended in its middle, and if the configuration was lost.
-- nil where there is but one set, which has each id once.
local give_taken
-- The due ids of the priority that is looked at, and the place of the next one; the messages of this priority whose leases have
-- expired, and the place of the next one; and the record of a first delivery.
local give_priority, give_due, give_next, give_expired, give_next_expired, give_brief
-- Bodies and records that were read ahead, and the place before the first of them. More and more are read at once, but large ones
-- one by one, so that few are read that are not given.
local give_bodies, give_records, give_before = {}, {}, 0
-- Of those with a group their groups, and whether they may be given without a further look.
local give_groups, give_sure = {}, {}
local give_width, give_widest = 8, 64

-- Gives a message with its new state record.
local function give_message(id, body, record)
  local n = #ids + 1
  ids[n], bodies[n], records[n], give_bytes = id, body, record, give_bytes + #body
end

-- Reads the body and the record of the next due message, unless they were read ahead. Returns where they are.
local function give_read()
  local i = give_next - give_before
  if give_bodies[i] == nil then
    local last = math.min(give_next + give_width - 1, #give_due)
    give_bodies = redis.call('HMGET', key_messages, unpack(give_due, give_next, last))
    give_records = redis.call('HMGET', key_state, unpack(give_due, give_next, last))
    give_before, i = give_next - 1, 1
    if give_look and not give_taken then
      give_groups, give_sure = give_look({ unpack(give_due, give_next, last) }, give_bodies)
    end
    give_width = math.min(2 * give_width, give_widest)
  end
  return i
end

-- Gives the next messages as long as they are plain: first deliveries, which nearly all are, and what failed before. A short cut
-- where there is but one set: give_one would do the same with each of them.
local function give_plain()
  -- A function reads a local of its own in half of the time.
  local ids, bodies, records, due, brief, most = ids, bodies, records, give_due, give_brief, max_bytes
  local n, bytes = #ids, give_bytes
  local head = group_of and struct.pack('<BBBBI4c16', 1, 0, 0, RECORD_GROUP, 1, claim)
  while due[give_next] do
    local first = give_read()
    local before, found, old_records = give_before, give_bodies, give_records
    for i = first, #found do
      local id, body = due[before + i], found[i]
      local size = body and #body or 0
      local old, written = old_records[i], nil
      if old and #old >= RECORD_LENGTH and not batch_timeout and not group_of then
        local version, lost, _, level = string.byte(old, 1, 4)
        local attempts, _, due_at, first_at = struct.unpack('<I4c16dd', old, 5)
        written = version == 1 and lost < 2 and level < RECORD_DEAD and attempts < RECORD_MAX_ATTEMPTS and due_at >= 0
          and due_at <= CALL_MAX_EXACT and first_at >= 0 and first_at <= CALL_MAX_EXACT
          and string.sub(old, 1, 4) .. struct.pack('<I4c16', attempts + 1, claim) .. string.sub(old, 25)
      end
      if old and not written or size < 16 or size > 1024 or bytes + size > most or id == '' then
        give_next, give_bytes = before + i, bytes
        return
      end
      local group = give_groups[i]
      local may = not group or queue_aligned and give_sure[i] or may_give(id, group, record_time(body, 9) or now)
      if may == nil then
        give_next, give_bytes, give_full = before + i, bytes, true
        return
      elseif may then
        -- As give_message does.
        n, bytes = n + 1, bytes + size
        ids[n], bodies[n] = id, body
        records[n] = group and head .. string.sub(body, 9, 16) .. string.sub(body, 9, 16) .. group .. '\n' or written or brief
      end
    end
    give_next, give_bytes = before + #found + 1, bytes
  end
end

-- Takes the next message: the earlier one of the next that is due and the next whose lease has expired. Returns its id, its body
-- if there is one, and its record, unless it is a first delivery; nothing if there is no message.
local function give_take()
  local id, expired = give_due[give_next], give_expired[give_next_expired]
  if expired and wanted_expired > 0 and (not id
      or expired.time < tonumber(redis.call('ZSCORE', queue_delayed_set(give_priority), id))) then
    give_next_expired, wanted_expired = give_next_expired + 1, wanted_expired - 1
    expired.record.lost, expired.record.reason = math.min(expired.record.lost + 1, 255), LEASE_EXPIRED
    return expired.id, redis.call('HGET', key_messages, expired.id), expired.record
  elseif id then
    local i = give_read()
    local record = give_records[i] and record_read(give_records[i], now, give_priority, id)
    give_next, free = give_next + 1, free and free - 1
    -- When the configuration was lost, an id may have been scheduled again, and is in the set of its old priority, too. There it is no
    -- more if it is leased, or has a group; and it must not come before the message is due, by its record or its body.
    local gone = record and record.claim ~= RECORD_NO_CLAIM and redis.call('ZSCORE', key_leased, id)
      or group_of and group_of(give_bodies[i])
    local time = record and record.due or record_time(give_bodies[i], 9) or now
    if give_priority > 0 and (gone or time > now) then
      local set = queue_delayed_set(give_priority)
      give_taken[id] = gone and redis.call('ZREM', set, id) or redis.call('ZADD', set, time, id)
      due = complete and due or 0
    end
    return id, give_bodies[i], record
  end
end

-- Gives the next message, or drops its id, or finds that no more may be given. Returns false if there is none.
local function give_one()
  local id, body, record = give_take()
  -- One that may kill its consumer; and in batches one that comes again.
  local alone = record and (record.lost >= 2 or (batch_timeout and record.attempts > 0))
  if not id then
    return false
  elseif not body or #body == 0 or id == '' then
    -- One without a body, or without an id, which only others can have written: no call could finish it.
    dropped[#dropped + 1] = id
    if group_of and record and record.group then
      leave_group(record.group, id)
    end
  elseif give_taken and give_taken[id] then
    return true
  elseif batch_timeout and ((alone and #ids > 0) or (complete and not alone)) then
    return true -- a later claim gives it
  elseif #ids > 0 and (give_bytes + #body > max_bytes or alone) then
    give_full = true
  else
    local group = group_of and group_of(body)
    if group then
      record = record or record_read(nil, record_time(body, 9) or now, give_priority)
      record.group = group
      local may = may_give(id, group, record.due, record)
      if not may then
        give_full = may == nil
        return true
      end
    end
    if give_taken then
      give_taken[id] = true
    end
    if #body > 32768 then
      give_width, give_widest = 1, 1
    end
    local written = give_brief
    if record then
      give_full = alone or false
      -- The message says it, but in dead letters, where nobody asks.
      record.group = group or record.priority % RECORD_RUN >= RECORD_DEAD and record.group or nil
      record.attempts = record.attempts + 1
      record.claim = claim
      written = record_write(record)
    elseif #body > 1024 or #body < 16 then
      -- Whoever needs the due times reads no large bodies for them; and another client's may have none.
      local time = #body < 16 and struct.pack('<d', now) or string.sub(body, 9, 16)
      written = give_brief .. time .. time
    end
    give_message(id, body, written)
  end
  return true
end

-- A repeat gives once more what is still leased under its claim id.
if stored then
  local count, lengths = struct.unpack('<I4I4', stored)
  local at = 9 + 4 * lengths
  for i = 1, count do
    local length = struct.unpack('<I4', stored, 5 + 4 * math.min(i, lengths))
    local id = string.sub(stored, at, at + length - 1)
    at = at + length
    local held, record = record_is_held(key_state, id, claim)
    local body = held and redis.call('HGET', key_messages, id)
    if body then
      give_message(id, body, record)
    end
  end
end

-- The messages whose leases have expired: for a priority a list in the order of their times.
local give_all_expired = {}
if not stored and wanted_expired > 0 and expires and expires <= now then
  local found = redis.call('ZRANGEBYSCORE', key_leased, '-inf', now, 'WITHSCORES', 'LIMIT', 0,
    #queue_priorities > 0 and 256 or wanted_expired)
  for i = 1, #found, 2 do
    local time = tonumber(found[i + 1])
    local bytes = redis.call('HGET', key_state, found[i])
    local record = record_read(bytes, not bytes and record_time(redis.call('HGET', key_messages, found[i]), 9) or time, 0, found[i])
    local level = record_level(record)
    give_all_expired[level] = give_all_expired[level] or {}
    table.insert(give_all_expired[level], { id = found[i], time = time, record = record })
  end
end

-- Give: the highest priority first.
local give_in_use = {}
for i = 0, stored and -1 or #queue_priorities do
  give_in_use[queue_priorities[i]] = true
end
give_taken = (next(give_all_expired) or #queue_priorities > 0) and {}
for priority = 9, 0, -1 do
  if give_in_use[priority] or give_all_expired[priority] then
    give_priority, give_next, give_bodies = priority, 1, {}
    give_expired, give_next_expired = give_all_expired[priority] or {}, 1
    give_due = give_in_use[priority]
      and redis.call('ZRANGEBYSCORE', queue_delayed_set(priority), '-inf', now, 'LIMIT', 0, complete and 8 or free or wanted) or {}
    give_brief = struct.pack('<BBBBI4c16', 1, 0, 0, priority, 1, claim)
    while not give_full and #ids < wanted do
      if not give_taken and not complete then
        give_plain()
      end
      if not give_one() then
        break
      end
    end
  end
end

-- Lease: put each where it goes before it is taken away from where it was.
if #ids > 0 and not stored then
  local score, scores, fields = string.format('%.0f', until_then), {}, {}
  for i = 1, #ids do
    scores[2 * i - 1], scores[2 * i] = score, ids[i]
    fields[2 * i - 1], fields[2 * i] = ids[i], records[i]
  end
  -- If nothing was leased, so many leases and records make a skip list and a table at once, by a member that is too large for
  -- a list, and that is no message's. Measured: 2.1 instead of 3 us for each message.
  local too_large = #ids >= 16 and not expires and '\0' .. string.rep(' ', 64)
  if too_large then
    redis.call('ZADD', key_leased, score, too_large)
  end
  redis.call('ZADD', key_leased, unpack(scores))
  for i = 0, #queue_priorities do
    redis.call('ZREM', queue_delayed_set(queue_priorities[i]), unpack(ids))
  end
  if too_large then
    redis.call('ZREM', key_leased, too_large)
    redis.call('HSET', key_state, '', too_large)
  end
  redis.call('HSET', key_state, unpack(fields))
  if too_large then
    redis.call('HDEL', key_state, '')
  end
end

-- Drop.
if #dropped > 0 then
  redis.call('HDEL', key_messages, unpack(dropped)) -- an empty one
  redis.call('HDEL', key_state, unpack(dropped))
  for i = 0, #queue_priorities do
    redis.call('ZREM', queue_delayed_set(queue_priorities[i]), unpack(dropped))
  end
  redis.call('ZREM', key_leased, unpack(dropped))
end
