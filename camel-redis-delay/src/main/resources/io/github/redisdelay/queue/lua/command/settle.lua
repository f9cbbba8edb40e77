-- Ends deliveries: acknowledges, retries, releases, dead-letters or drops them. Or extends their leases.
--
-- KEYS  messages, delayed, leased, state, sessions, config, waiters, seen, dead:messages, dead:delayed, dead:state,
--       dead:waiters, dead:index, index (the one that these messages are in if they are dead letters),
--       dead:config; priorities
-- ARGV  1 session  2 sequence  3 the queue's base key  4 the dead letters' base key
--       then, as items.lua reads them, five for each delivery, at most 256:
--         id
--         claim id (16 bytes)
--         acknowledge; retry, after a delay; release; dead-letter; drop, without a dead letter; extend, the lease; or, of a run of
--           a recurring schedule, run-done or run-dead-letter. Behind each may stand ' pause=' and for how many
--           microseconds the message's group is paused
--         for retry the delay in microseconds; for acknowledge, dead-letter and drop for how many microseconds the id stays a
--           duplicate; for extend how many microseconds the lease lasts from now; else 0
--         for retry and dead-letter what to keep of the failure, else nothing; of a run the next times of the rule with which it
--           was claimed, see run.lua, and behind them what to keep
-- Reply bytes: struct 'd' time of the call, then for each delivery 'Bd' outcome and, of what stays, the new due time;
--       of what is a dead letter now, the time in its id; of what was extended, when its lease expires (0: none of these)
--         1 done  2 stale: the message is gone  3 stale: it waits, or another delivery holds it
-- Errors  argument, config, keys, needs, superseded: nothing is changed
-- Cost  O(log N) for each delivery; a dead letter copies the body
--
-- After a run the message is due at the first time of its rule that is later than this run's own time and than now. If another
-- rule was stored meanwhile, the first time of that one counts. The dead letter of a run takes the place of the one before,
-- unless a consumer holds that.
-- A message with a group that ends gives its place to another one of the group; so does a run, one that was released before its
-- first attempt has begun, and, if the queue's retries let others pass, each that stays.
-- Acts only on a message that is leased under this very claim id. A release gives the attempt back and restores the due
-- time. A dead letter's id is the message's id, '@' and the time in microseconds, so that the id is free again.

--@include call.lua
--@include clock.lua
--@include items.lua
--@include session.lua
--@include check.lua
--@include effect.lua
--@include record.lua
--@include queue.lua
--@include wakeup.lua

-- Actions, and the least time that goes with them.
local ACTIONS = { acknowledge = 0, retry = 0, release = 0, ['dead-letter'] = 0, drop = 0, extend = 1,
  ['run-done'] = 0, ['run-dead-letter'] = 0 }
local FAILED, RELEASED = 1, 3

if session_stored then
  return session_stored
end
local now, base, dead_base = clock_now, ARGV[3], ARGV[4]
local count, ids, claims, actions, times, failures = items_count, unpack(items_columns)
effect_begin()
queue_read_config(true)

local records = redis.call('HMGET', key_state, unpack(ids))
-- Of what stays in the queue: by priority the ids, each behind its due time; and the ids, each before its new record. By index
-- the new record of what becomes a dead letter; and the id of the dead letter that it replaces, of a run before.
local sets, fields, dead, older = {}, {}, {}, {}
-- Ids: those that stay in the queue; those that end here; those that are remembered, each behind its time.
local kept, gone, remembered = {}, {}, {}
-- By index the groups of messages that give up their places or keep them, or whose group is paused; the due times of those that stay,
-- false of one that keeps its place; and for how long the group is paused. Made where there are some: a table takes as long as a
-- function. And a function of member.lua.
local groups, waits, pauses, group_of
-- Ids whose leases are extended, each behind the time when its lease expires.
local extended = {}
-- id -> whether it stays in the queue, of those that this call finishes. A second time it is stale.
local done = {}
local answers = { now }
local earliest = math.huge
-- The record that was read last, and the action; and what they make of it, its set, and what the new record begins with. Most
-- messages of a claim have the same.
local read, how, record, level, head, line, group
-- Whether the delivery holds its message, which the state record alone tells (see acknowledge.lua), and its time. A call of a
-- function takes as long as many comparisons, and most deliveries are like the one before.
local held, time
for i = 1, count do
  local id, claim, action, bytes, failure = ids[i], claims[i], actions[i], records[i], failures[i]
  local least, outcome, due, leaves, pause = ACTIONS[action], 1, 0, false, nil
  if not least then
    action, pause = string.match(action, '^([%l-]+) pause=(%d+)$')
    least = ACTIONS[action]
  end
  time = times[i] == times[i - 1] and time or tonumber(times[i])
  if id == '' or #claim ~= 16 or claim == RECORD_NO_CLAIM or not least or not time or time % 1 ~= 0 or time < least
      or time > CALL_MAX_EXACT then
    error('REDISDELAY argument: delivery ' .. i)
  end
  group = bytes and #bytes >= RECORD_LENGTH and string.byte(bytes, 4) >= RECORD_GROUP
  if group and not group_of then
--@include member.lua
    group_of = member_of_record
    local _ = queue_places or queue_read_config(true, true)
  end
  group = group and group_of(bytes) or nil
  held = bytes == records[i - 1] and claim == claims[i - 1] and held or record_has_claim(bytes, claim)
  if not held then
    outcome = redis.call('HEXISTS', key_messages, id) == 1 and 3 or 2
  elseif done[id] ~= nil then
    outcome = done[id] and 3 or 2
  elseif action == 'extend' then
    due = math.min(now + time, CALL_MAX_EXACT)
    extended[#extended + 1], extended[#extended + 2] = due, id
  elseif action == 'run-done' or action == 'run-dead-letter' then
--@include run.lua
    local run, behind, named, kept_failure = record_read(bytes, now, 0), run_read(failure, i)
    local digits, past, count, letter, rule = string.match(record_run(run), RUN_LINE)
    -- A new rule's first time may be over, which the next ones follow if the client knows that rule.
    due = rule ~= named and tonumber(digits) or run_later(digits .. ' ' .. behind, math.max(run.first_due, now))
    if action == 'run-dead-letter' then
      older[i], count, letter = id .. '@' .. letter, string.format('%.0f', count + 1), string.format('%.0f', now)
    end
    past = count .. '@' .. letter .. '@' .. string.format('%.0f', run.first_due)
    dead[i] = older[i] and run_record(now, run.priority + RECORD_DEAD, past, rule, kept_failure, run.group)
    local its_level = record_level(run)
    queue_need_priorities(its_level > 0)
    local set = sets[its_level] or {}
    done[id], kept[#kept + 1], sets[its_level], set[#set + 1], set[#set + 2] = true, id, set, due, id
    fields[#fields + 1], fields[#fields + 2] = id, run_record(due, run.priority, past, rule, '', run.group)
    earliest, leaves = math.min(earliest, due), true
  else
    local stays, dies = action == 'retry' or action == 'release', action == 'dead-letter'
    done[id] = stays
    -- The body has the due time of a message with a brief record.
    local first = #bytes < RECORD_LENGTH and 0
    first = action ~= 'release' and first or first and record_time(redis.call('HGET', key_messages, id), 9)
    if (stays or dies) and (bytes ~= read or action ~= how) then
      read, how, record = bytes, action, record_read(bytes, now, 0)
      level = record_level(record)
      queue_need_priorities(stays and level > 0)
      record.claim = RECORD_NO_CLAIM
      if action == 'release' then
        record.attempts, record.reason = math.max(0, record.attempts - 1), RELEASED
      else
        record.lost, record.reason = 0, dies and 0 or FAILED
      end
      if dies then
        -- In the dead letters the attempts start anew; what this queue knew is in the failure.
        record.attempts, record.priority = 0, record.priority - record.priority % RECORD_RUN + level + RECORD_DEAD
      end
      line = (record.group and record.group .. '\n' or '') .. record_run(record)
      head = string.sub(record_write(record), 1, RECORD_BRIEF)
    end
    if stays then
      due = action == 'release' and (first or record.due) or math.min(now + time + (i - 1), CALL_MAX_EXACT)
      earliest = due < earliest and due or earliest
      local set = sets[level] or {}
      local n, m = #kept + 1, #set + 1
      kept[n], sets[level], set[m], set[m + 1] = id, set, due, id
      fields[2 * n - 1] = id
      failure = action == 'release' and (record.group and record.group .. '\n' or '') .. record.failure or line == '' and failure
        or line .. failure
      fields[2 * n] = head .. struct.pack('<dd', due, first or record.first_due) .. failure
    else
      gone[#gone + 1] = id
      if time > 0 then
        remembered[#remembered + 1], remembered[#remembered + 2] = math.min(now + time, CALL_MAX_EXACT), id
      end
      if dies then
        dead[i] = head .. struct.pack('<dd', now, first or record.first_due) .. line .. failure
      end
    end
    leaves = not stays or queue_relaxed or record.attempts == 0
  end
  if group and outcome == 1 and (leaves or done[id] or pause) then
    groups, waits, pauses = groups or {}, waits or {}, pauses or {}
    groups[i], pauses[i] = group, pause
    waits[i] = leaves and (done[id] and due or nil)
  end
  answers[2 * i], answers[2 * i + 1] = outcome, due
end
local promises, dead_promises
local limits = queue_priorities.limits
local before = (groups or limits) and queue_first_due()
if next(dead) then
  local head = queue_head(key_dead_delayed)
  if not head or now < head or head < now - WAKEUP_OVERDUE_MICROS then
    dead_promises = wakeup_cover(key_dead_waiters, dead_base, now, now)
  end
end
if earliest < math.huge then
  promises = wakeup_cover_earlier(base, earliest, now)
end

-- Needs no memory: after it, nothing is refused when memory is full.
redis.call('ZREM', key_leased, '')
wakeup_write(wakeup_waiters, promises)
wakeup_write(key_dead_waiters, dead_promises)
if #extended > 0 then
  redis.call('ZADD', key_leased, unpack(extended))
end
if #remembered > 0 then
--@include seen.lua
  seen_remember(now, remembered)
end
-- At once: if one of the commands below is refused, a message that stays is in one set all the same. ZREM is not refused: it
-- was the first write. A message that becomes a dead letter is held until it has left then, and may leave a second dead letter.
if #kept > 0 then
  redis.call('HSET', key_state, unpack(fields))
  for level, set in pairs(sets) do
    if level > 0 then
--@include place.lua
      place_use_priority(level)
    end
    redis.call('ZADD', queue_delayed_set(level), unpack(set))
  end
  redis.call('ZREM', key_leased, unpack(kept))
end
if next(dead) then
--@include index.lua
  for i, record in pairs(dead) do
    local dead_id = ids[i] .. '@' .. string.format('%.0f', now)
    local body = redis.call('HGET', key_messages, ids[i])
    if body then
      redis.call('HSET', key_dead_messages, dead_id, body)
      redis.call('HSET', key_dead_state, dead_id, record)
      redis.call('ZADD', key_dead_delayed, now, dead_id)
      redis.call('ZADD', key_dead_index, '0', index_member(dead_id))
      answers[2 * i + 1] = now
      if older[i] and redis.call('ZREM', key_dead_delayed, older[i]) == 1 then
        redis.call('HDEL', key_dead_messages, older[i])
        redis.call('HDEL', key_dead_state, older[i])
        index_forget(key_dead_index, { older[i] })
      end
    end
  end
  if redis.call('HEXISTS', key_dead_config, 'paused') == 1 then
    redis.call('PERSIST', key_dead_config)
  end
end
if #gone > 0 then
--@include index.lua
  redis.call('HDEL', key_messages, unpack(gone))
  redis.call('HDEL', key_state, unpack(gone))
  redis.call('ZREM', key_leased, unpack(gone))
  index_forget(key_index, gone)
end
-- Before the groups: the deliveries have ended, and a repeat must say so also if a command below is refused. Then the next claims
-- bring the groups into line.
local result = effect_end(struct.pack('<d' .. string.rep('Bd', count), unpack(answers)))
if groups then
--@include member.lua
--@include page.lua
--@include group.lua
  local kept, left, place = {}, {}, '\0' .. MEMBER_PLACE
  for i, its_group in pairs(groups) do
    local record, id = records[i], ids[i]
    -- Of an extended one, only the group is paused.
    local ends = not string.find(actions[i], 'extend', 1, true)
    left[#left + 1] = ends and its_group .. place .. string.reverse(string.sub(record, 25, 32)) .. id or nil
    if waits[i] ~= false then
      group_changed[its_group] = GROUP_LEFT
      -- One that was delivered before may have kept its place.
      left[#left + 1] = string.sub(record, 5, 8) ~= '\1\0\0\0' and member_make(its_group, MEMBER_PLACE, id, MEMBER_KEPT) or nil
    elseif ends then
      kept[#kept + 1], kept[#kept + 2] = '0', member_make(its_group, MEMBER_PLACE, id, MEMBER_KEPT)
    end
  end
  if #kept > 0 then
    redis.call('ZADD', queue_delayed_set(11), unpack(kept))
  end
  redis.call('ZREM', queue_delayed_set(11), '', unpack(left))
  for i, due in pairs(waits) do
    group_put(due and groups[i], ids[i], due)
  end
  for i, micros in pairs(pauses) do
    gate_pause(groups[i], math.min(now + micros, CALL_MAX_EXACT))
  end
  group_end(base, now, before)
end
if limits and limits.places then
  -- A place that is left may be given at once.
  local first = queue_first_due()
  if first and (not before or first < before) then
    redis.call('HSET', key_config, 'freed', string.format('%.0f', now))
    wakeup_write(wakeup_waiters, not queue_paused and wakeup_cover(wakeup_waiters, base, first, now))
  end
end
return result
