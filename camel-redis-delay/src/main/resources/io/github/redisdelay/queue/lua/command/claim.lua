-- Leases due messages, and messages whose lease expired, to a consumer, and tells when the next thing will happen.
--
-- KEYS  messages, delayed, leased, state, sessions, config, waiters; priorities, see queue.lua
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
-- Errors  argument, config, keys, needs, partitions, superseded: nothing is changed
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
--@include clock.lua
--@include session.lua
--@include check.lua
--@include effect.lua
--@include record.lua
--@include queue.lua
--@include pause.lua
--@include wakeup.lua

local LEASE_EXPIRED = 2

local now, stored, claim = clock_now, session_stored, ARGV[3]
local lease = check_integer(ARGV[4], 1, CALL_MAX_EXACT, 'lease')
local wanted = check_integer(ARGV[5], 0, 256, 'messages')
local wanted_expired = check_integer(ARGV[6], 0, 256, 'expired leases')
local max_bytes = check_integer(ARGV[7], 1, CALL_MAX_EXACT, 'bytes')
local base, member, intent = ARGV[8], ARGV[9], ARGV[10]
local safety_interval = check_integer(ARGV[11], 1, CALL_MAX_EXACT, 'safety interval')
if intent ~= 'leave' and intent ~= 'fill' and intent ~= 'stay' and intent ~= 'quick' then
  error('REDISDELAY argument: intent')
end
if #claim ~= 16 or claim == RECORD_NO_CLAIM then
  error('REDISDELAY argument: claim id')
end
if not stored then
  effect_begin()
end
queue_read_config()
if session_preflight_due and not stored and #member > 0 then
  wakeup_send(member, base, safety_interval)
end

local function first_expiry()
  return tonumber(redis.call('ZRANGE', key_leased, '0', '0', 'WITHSCORES')[2])
end

local due, expires = queue_first_due(), first_expiry()
local until_then = math.min(now + lease, CALL_MAX_EXACT)
-- What this call gives: the ids, and at the same places the bodies and the new state records; and ids that have no body.
local ids, bodies, records, dropped = {}, {}, {}, {}
if not stored then
  -- Needs no memory: after it, nothing is refused when memory is full.
  redis.call('ZREMRANGEBYSCORE', wakeup_waiters, '-inf', now - WAKEUP_OVERDUE_MICROS - 1)
end
if stored or (not queue_paused and wanted > 0 and ((due and due <= now) or (expires and expires <= now))) then
--@include give.lua
end

-- Packs the lengths of texts: a single one if all have the same.
local function pack_lengths(texts)
  local lengths, same = {}, true
  for i = 1, #texts do
    lengths[i] = #texts[i]
    same = same and lengths[i] == lengths[1]
  end
  return struct.pack('<' .. (same and 'I4' or string.rep('I4', #texts)), unpack(lengths))
end

local id_lengths, names = #ids > 0 and pack_lengths(ids) or '', table.concat(ids)
if not stored then
  queue_drop_priorities()
  pause_keep()
  -- For a repeat: how many ids, how many lengths, these, and the ids.
  effect_end(struct.pack('<I4I4', #ids, #id_lengths / 4) .. id_lengths, names)
  if (expires and expires <= now) or #dropped > 0 then
    expires = first_expiry()
  elseif #ids > 0 then
    expires = math.min(expires or math.huge, until_then)
  end
end

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

local none = queue_paused and -2 or -1
local head = struct.pack('<ddddIII', now,
  due and math.max(0, due - now) or none, expires and math.max(0, expires - now) or none,
  safety_interval, #ids, #dropped, duty)
local record_lengths, all_records = '', records[1] or ''
for i = 2, #records do
  if records[i] ~= records[1] then
    record_lengths, all_records = pack_lengths(records), table.concat(records)
    break
  end
end
local reply = { head, id_lengths, names, record_lengths, all_records, unpack(bodies) }
for i = 1, #dropped do
  reply[#reply + 1] = dropped[i]
end
return reply
