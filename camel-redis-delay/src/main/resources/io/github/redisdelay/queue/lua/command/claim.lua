-- Leases due messages, and messages whose lease expired, to a consumer, and tells when the next thing will happen.
--
-- KEYS  messages, delayed, leased, state, sessions, config, waiters; priorities, see queue.lua
-- ARGV  1 session  2 sequence  3 claim id (16 bytes)  4 length of the lease in microseconds
--       5 how many messages, 0 to 256  6 how many of them may be ones whose lease expired  7 how many bytes of bodies
--       8 the queue's base key  9 the consumer's member of the waiters, or nothing: it is none
--       10 1 if it can take more in a moment, as its work is short: it remains a waiter also if it is given all it asks for;
--         else 0  11 the safety interval of the queue in microseconds
--       12 for a batch of so many messages: for how long its first one waits for others, in microseconds; missing for none
-- Reply  a list: head; struct 'I4' the length of each id, a single one if all have the same; the ids in one string; the
--        length of each state record (see record.lua), none if all messages have the same; these in one string, or that one;
--        then the bodies, and the ids that had no body and were dropped. So there are few elements to be taken apart, and
--        few bytes: Lua reads each byte of a text once more to find equal ones
--        head: struct 'ddddII', and behind it a byte 1 if the queue has limits, so that nobody claims ahead of what it can begin:
--        time of the call, microseconds until the next message is due, or a batch complete, and until the
--        next lease expires (0: now, -1: there is none, -2: the queue is paused), microseconds until the consumer claims again
--        at the latest (-1: when it wants to, it is no waiter), number of messages, number of dropped ids
-- Errors  argument, config, keys, needs, partitions, superseded: nothing is changed
-- Cost  O(log N) for each message claimed; O(log N) if there is none
--
-- The highest priority comes first; within one, both kinds are merged by time. Of expired leases, 256 are looked at. At
-- least one message is given if there is one, however large. A paused queue gives nothing.
-- A message whose last two deliveries ended by a lost lease is given alone: if it kills its consumer, no other message that
-- was claimed with it and not begun loses an attempt.
-- A claim of a batch gives nothing until it is complete: so many messages are due, or the first has been due for so long.
-- A message that was delivered before is a batch of its own, and waits for no other, unless 8 new ones are due before it.
-- No more messages of a group are given than it has places; one of a batch. One that comes up although its group has no place, as
-- after a change of the limit, is parked.
-- The rates of the queue and of its groups count what is given, also what is claimed again. What a rate or a pause holds back of a
-- group is parked until its gate opens, see gate.lua.
-- No more messages are leased than the queue has places. A message whose lease has expired keeps its place until it is given again, so
-- that a late extension of that lease takes none; in a queue that is full it is given before others.
-- A consumer that asks for 0 messages leaves the waiters.
-- A repeat of the call gives the messages that are still leased under its claim id.
-- Attempts are counted here, so that a message that kills its consumer each time uses them up too.

--@include call.lua
--@include clock.lua
--@include session.lua
--@include check.lua
--@include effect.lua
--@include queue.lua
--@include pause.lua
--@include wakeup.lua

local LEASE_EXPIRED = 2

local now, stored, claim = clock_now, session_stored, ARGV[3]
local lease = check_integer(ARGV[4], 1, CALL_MAX_EXACT, 'lease')
local wanted = check_integer(ARGV[5], 0, 256, 'messages')
local wanted_expired = check_integer(ARGV[6], 0, 256, 'expired leases')
local max_bytes = check_integer(ARGV[7], 1, CALL_MAX_EXACT, 'bytes')
local base, member = ARGV[8], ARGV[9]
local quick = check_integer(ARGV[10], 0, 1, 'quick') == 1
local safety_interval = check_integer(ARGV[11], 1, CALL_MAX_EXACT, 'safety interval')
local batch_timeout = ARGV[12] and check_integer(ARGV[12], 0, CALL_MAX_EXACT, 'batch timeout')
if #claim ~= 16 or not string.find(claim, '[^%z]') then
  error('REDISDELAY argument: claim id')
end
if not stored then
  effect_begin()
end
queue_read_config()
if session_preflight_due and not stored and #member > 0 then
  wakeup_send(member, base, safety_interval)
end

-- How many messages the rate of the queue lets begin, and what was asked for; from when on the next ones count, nil without a rate.
local asked, rate_from, limits = wanted, nil, queue_priorities.limits
if limits and not stored and limits.interval > 0 then
  -- A time of a clock that was ahead, or of a slower rate, must not stop the queue for longer than this rate may.
  limits.opens = math.min(limits.opens, now + limits.interval)
  rate_from = math.max(limits.opens, now - (limits.burst - 1) * limits.interval)
  wanted = math.min(wanted, math.max(0, math.floor((now - rate_from) / limits.interval) + 1))
end

-- How many messages may be given that have no place, nil for any number.
local free
if limits and limits.places and not stored then
  wanted = math.max(0, math.min(wanted, limits.places - redis.call('ZCOUNT', key_leased, string.format('(%.0f', now), '+inf')))
  free = math.max(0, math.min(wanted, limits.places - redis.call('ZCARD', key_leased)))
end

local due, expires = queue_first_due(queue_head(key_leased))
local until_then = math.min(now + lease, CALL_MAX_EXACT)
-- When the batch is complete, as far as is known, if messages are due and it is not.
local complete
if batch_timeout and not stored and due and due <= now then
  local count = 0
  complete = due + batch_timeout
  for i = 0, #queue_priorities do
    local set = queue_delayed_set(queue_priorities[i])
    count = count + redis.call('ZCOUNT', set, '-inf', now)
    complete = math.min(complete, tonumber(redis.call('ZRANGE', set, wanted - 1, wanted - 1, 'WITHSCORES')[2]) or complete)
  end
  complete = count < wanted and complete > now and complete
end
-- Messages that this call gives: the ids, and at the same places bodies and new state records; and ids that have no body.
local ids, bodies, records, dropped = {}, {}, {}, {}
if not stored then
  -- Needs no memory: after it, nothing is refused when memory is full.
  redis.call('ZREMRANGEBYSCORE', wakeup_waiters, '-inf', now - WAKEUP_OVERDUE_MICROS - 1)
end
if stored or not queue_paused and asked > 0 and (queue_places or due and due <= now or expires and expires <= now) then
--@include record.lua
  -- Of a queue with groups: the group of a stored message; whether that may be given; the groups of several, and which of them may be
  -- given without that; and two functions of group.lua.
  local group_of, may_give, give_look, leave_group, end_groups
  if queue_places and not stored then
--@include member.lua
--@include page.lua
--@include group.lua
    group_of, leave_group, end_groups = member_stored, group_leave, group_end
    -- How many of a group have begun, with those that may_give gives; and the groups of these. A claim that would be filled mends now
    -- and then, so that it costs most of them nothing.
    local holders, given, last = {}, {}, tonumber(redis.call('ZRANGE', key_delayed, wanted - 1, wanted - 1, 'WITHSCORES')[2])
    if not last or last > now or now % 16 == 0 or limits then
      group_mend()
      local _ = limits and gate_open()
      group_end()
      due = queue_first_due()
    end
    -- Returns the groups of stored messages; and which of these were never begun and have places, so that they may be given as they are.
    give_look = function(all, found)
      local groups, members, place = {}, {}, '\0' .. MEMBER_PLACE
      for i = 1, #found do
        local group = member_stored(found[i])
        groups[i] = group
        members[i] = group and group .. place .. string.reverse(string.sub(found[i], 9, 16)) .. all[i] or ''
      end
      return groups, queue_aligned and not batch_timeout and redis.call('ZMSCORE', queue_delayed_set(11), unpack(members)) or {}
    end
    -- A message whose group has no place for it is parked; but a batch, which has one of a group, leaves others where they are. Returns
    -- nothing if a later call is to look at it.
    may_give = function(id, group, time, record)
      if batch_timeout and given[group] then
        return false
      end
      local own, its_kept = member_make(group, MEMBER_PLACE, id, time), member_make(group, MEMBER_PLACE, id, MEMBER_KEPT)
      local known = redis.call('ZMSCORE', queue_delayed_set(11), own, its_kept)
      if queue_aligned and not batch_timeout and not (known[1] or known[2]) then
        -- What give_look has let pass is not counted, so the index must know all; a call that begins here counts instead.
        if #ids > 0 then
          return
        end
        queue_aligned = false
      end
      local kept = record and (known[2] or known[1] and redis.call('ZSCORE', key_leased, id))
      local others = queue_places < math.huge and (holders[group] or gate_begun(group)) - (kept and 1 or 0) or 0
      local gate = limits and { gate_read(group) } or {}
      local gives = not gate[1] and others < queue_places
      holders[group] = others + ((gives or kept and gate[1]) and 1 or 0)
      if gives then
        given[group] = true
        if not (known[1] or known[2]) then
          redis.call('ZADD', queue_delayed_set(11), '0', own)
          -- It may have a place too many now, which another one gives up.
          group_changed[group] = true
        end
        if limits and limits.group_interval > 0 then
          gate_write(group, math.max(gate[2], now - limits.group_slack) + limits.group_interval, gate[3], gate[4])
        end
      else
        -- One that keeps its place comes again when the gate opens; its record knows better, for when the rate is raised.
        local keeps = kept and gate[1]
        if keeps then
          redis.call('ZADD', queue_delayed_set(11), '0', its_kept)
          redis.call('ZREM', queue_delayed_set(11), own)
        end
        group_leave(not keeps and group, id)
        if record then
          record.claim = RECORD_NO_CLAIM
          redis.call('HSET', key_state, id, record_write(record))
        end
        redis.call('ZADD', key_delayed, keeps or time, id)
        redis.call('ZREM', key_leased, id)
        group_put(not keeps and group, id, time, GROUP_PARKED)
      end
      return gives
    end
  end
  if stored or due and due <= now or expires and expires <= now then
--@include give.lua
  end
  local _ = end_groups and end_groups()
end

if rate_from then
  limits.opens = #ids > 0 and rate_from + #ids * limits.interval or limits.opens
  local _ = limits.opens ~= limits.next and redis.call('HSET', key_config, 'next', string.format('%.0f', limits.opens))
end
wanted = asked

-- Turns follow each other at a safety interval, so many of them. A queue with more waiters than this gives the turn behind
-- them to several.
local TURNS = 24
-- While claims leave messages that are due, each has one more consumer come so much later.
local HELP_MICROS = 10000

-- When a consumer comes if nobody wakes it: the first turn that nobody has.
local function next_turn()
  local last, window = now, 1.05 * safety_interval
  for _ = 1, TURNS do
    local at = tonumber(redis.call('ZRANGE', wakeup_waiters, last + window, '(' .. string.format('%.0f', last), 'BYSCORE', 'REV',
      'LIMIT', '0', '1', 'WITHSCORES')[2])
    if not at then
      break
    end
    last = at
  end
  return last + safety_interval
end

-- A consumer that leaves before its turn leaves a gap between the turns. The consumer that would come last is woken for the
-- first turn that nobody has.
local function close_gap()
  local last = redis.call('ZRANGE', wakeup_waiters, '0', '0', 'REV', 'WITHSCORES')
  local comes, slack = tonumber(last[2] or 0), 0.05 * safety_interval
  local at = comes > now + safety_interval + slack and next_turn()
  if at and comes > at + slack then
    wakeup_write(wakeup_waiters, { wakeup_send(last[1], base, at - now) and at or 0, last[1] })
  end
end

-- Writes when the consumer comes again, and keeps the cover rule. Returns in how many microseconds that is, -1 if it is no
-- waiter. One that got nothing, or whose work is short, takes the next event itself. Otherwise those who wait go first.
local function come_again(given, event)
  if #member == 0 then
    return -1
  end
  local waited = redis.call('ZREM', wakeup_waiters, member) == 1
  event = event and math.max(event, now)
  if wanted == 0 or (given == wanted and not quick) then
    wakeup_write(wakeup_waiters, event and wakeup_cover(wakeup_waiters, base, event, now))
    -- Also if it came late: what was overdue is no waiter any more.
    if wanted > 0 or waited then
      close_gap()
    end
    return -1
  end
  local first = queue_head(wakeup_waiters)
  local itself = event
  if event and first then
    local more_due = event == now
    local by = more_due and now + HELP_MICROS or event
    local promises, covered = nil, first <= by
    if not covered and (more_due or (given > 0 and not quick)) then
      promises, covered = wakeup_cover(wakeup_waiters, base, by, now)
      wakeup_write(wakeup_waiters, promises)
    end
    itself = more_due or not covered
  end
  local at = itself and event or math.huge
  if at > now + safety_interval then
    at = math.min(at, next_turn())
  end
  redis.call('ZADD', wakeup_waiters, at, member)
  if given == 0 or not first then
    redis.call('EXPIRE', wakeup_waiters, CALL_UNUSED_SECONDS)
  end
  return at - now
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
  if #queue_priorities > 0 then
--@include place.lua
    place_drop_priorities()
  end
  -- Now and then, so that a limit of groups does not expire while there are consumers.
  pause_keep(session_preflight_due)
  -- For a repeat: how many ids, how many lengths, these, and the ids.
  effect_end(struct.pack('<I4I4', #ids, #id_lengths / 4) .. id_lengths, names)
  if (expires and expires <= now) or #dropped > 0 or limits then
    expires = queue_head(key_leased)
  elseif #ids > 0 then
    expires = math.min(expires or math.huge, until_then)
  end
  expires = limits and select(2, queue_first_due(expires)) or expires
end

if queue_paused then
  due, expires = nil, nil
elseif #ids > 0 or #dropped > 0 or (queue_places or due == 0) and not complete then
  due = queue_first_due()
elseif complete and due then
  -- A look before, once the first message has been due for so long that each schedule wakes somebody, see wakeup.lua.
  local woken = due + WAKEUP_OVERDUE_MICROS + 1
  due = woken > now and math.min(complete, woken) or complete
end
-- A consumer that repeats a call may have lost its promise meanwhile: it claims again, and promises anew.
local again = -1
if not stored then
  again = come_again(#ids, due and expires and math.min(due, expires) or due or expires)
end

local none = queue_paused and -2 or -1
local head = struct.pack('<ddddII', now,
  due and math.max(0, due - now) or none, expires and math.max(0, expires - now) or none,
  again, #ids, #dropped) .. (limits and '\1' or '')
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
