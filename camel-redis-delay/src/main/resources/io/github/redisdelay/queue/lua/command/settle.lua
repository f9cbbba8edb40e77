-- Ends deliveries: acknowledges, retries, releases, dead-letters or drops them. Or extends their leases.
--
-- KEYS  messages, delayed, leased, state, sessions, config, waiters, seen, dead:messages, dead:delayed, dead:state,
--       dead:waiters, dead:index, index (the one that these messages are in if they are dead letters),
--       dead:config; priorities
-- ARGV  1 session  2 sequence  3 the queue's base key  4 the dead letters' base key
--       then, as items.lua reads them, five for each delivery, at most 256:
--         id
--         claim id (16 bytes)
--         acknowledge; retry, after a delay; release; dead-letter; drop, without a dead letter; or extend, the lease
--         for retry the delay in microseconds; for acknowledge, dead-letter and drop for how many microseconds the id stays a
--           duplicate; for extend how many microseconds the lease lasts from now; else 0
--         for retry and dead-letter what to keep of the failure, else nothing
-- Reply bytes: struct 'd' time of the call, then for each delivery 'Bd' outcome and, of what stays, the new due time;
--       of what is a dead letter now, the time in its id; of what was extended, when its lease expires (0: none of these)
--         1 done  2 stale: the message is gone  3 stale: it waits, or another delivery holds it
-- Errors  argument, config, keys, needs, superseded: nothing is changed
-- Cost  O(log N) for each delivery; a dead letter copies the body
--
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
--@include place.lua
--@include seen.lua
--@include wakeup.lua
--@include index.lua

-- Actions, and the least time that goes with them.
local ACTIONS = { acknowledge = 0, retry = 0, release = 0, ['dead-letter'] = 0, drop = 0, extend = 1 }
local FAILED, RELEASED = 1, 3

if session_stored then
  return session_stored
end
local now, base, dead_base = clock_now, ARGV[3], ARGV[4]
local count, ids, claims, actions, times, failures = items_count, unpack(items_columns)
effect_begin()
queue_read_config(true)

-- For each delivery its time, whether it holds its message, which the state record alone tells (see acknowledge.lua), and that
-- record. A call of a function takes as long as many comparisons, and most messages of a claim have the same record.
local micros, held, bytes = {}, {}, redis.call('HMGET', key_state, unpack(ids))
-- The bodies of those with brief records, which have the due times; read at once.
local brief, bodies = {}, {}
for i = 1, count do
  local claim, time, least = claims[i], tonumber(times[i]), ACTIONS[actions[i]]
  if ids[i] == '' or #claim ~= 16 or claim == RECORD_NO_CLAIM or not least or not time or time % 1 ~= 0 or time < least
      or time > CALL_MAX_EXACT then
    error('REDISDELAY argument: delivery ' .. i)
  end
  micros[i] = time
  held[i] = bytes[i] == bytes[i - 1] and claim == claims[i - 1] and held[i - 1] or record_has_claim(bytes[i], claim)
  if held[i] and #bytes[i] < RECORD_LENGTH and least == 0 and actions[i] ~= 'acknowledge' then
    brief[#brief + 1] = ids[i]
  end
end
for i, body in ipairs(#brief > 0 and redis.call('HMGET', key_messages, unpack(brief)) or {}) do
  bodies[brief[i]] = body
end

-- By index: of what stays in the queue the priority of its set, and of what becomes a dead letter the record; and the ids of
-- what stays, each before its new record.
local levels, dead, fields = {}, {}, {}
-- Ids: those that stay in the queue; those that end here; those that are remembered, each behind its time.
local kept, gone, remembered = {}, {}, {}
-- Ids whose leases are extended, each behind the time when its lease expires.
local extended = {}
-- id -> how this call finishes it. A second time it is stale.
local done = {}
local answers = { now }
local earliest, any_dead = math.huge, false
for i = 1, count do
  local id, action, failure = ids[i], actions[i], failures[i]
  local outcome, due = 1, 0
  if not held[i] then
    outcome = redis.call('HEXISTS', key_messages, id) == 1 and 3 or 2
  elseif done[id] then
    outcome = (done[id] == 'retry' or done[id] == 'release') and 3 or 2
  elseif action == 'extend' then
    due = math.min(now + micros[i], CALL_MAX_EXACT)
    extended[#extended + 1] = due
    extended[#extended + 1] = id
  else
    done[id] = action
    if action == 'retry' or action == 'release' then
      kept[#kept + 1] = id
      local record = record_read(bytes[i], now, 0, id, bodies[id])
      record.claim = RECORD_NO_CLAIM
      if action == 'retry' then
        record.due = math.min(now + micros[i] + (i - 1), CALL_MAX_EXACT)
        record.lost = 0
        record.reason = FAILED
        record.failure = failure
      else
        record.attempts = math.max(0, record.attempts - 1)
        record.reason = RELEASED
      end
      due = record.due
      earliest = math.min(earliest, due)
      levels[i] = record_level(record)
      queue_need_priorities(levels[i] > 0)
      fields[#fields + 1], fields[#fields + 2] = id, record_write(record)
    else
      gone[#gone + 1] = id
      if micros[i] > 0 then
        remembered[#remembered + 1] = math.min(now + micros[i], CALL_MAX_EXACT)
        remembered[#remembered + 1] = id
      end
      if action == 'dead-letter' then
        -- In the dead letters the attempts start anew; what this queue knew is in the failure.
        local record = record_read(bytes[i], now, 0, id, bodies[id])
        record.claim = RECORD_NO_CLAIM
        record.priority = record.priority % RECORD_DEAD + RECORD_DEAD
        record.attempts, record.lost, record.reason = 0, 0, 0
        record.due = now
        record.failure = failure
        dead[i] = record
        any_dead = true
      end
    end
  end
  answers[2 * i], answers[2 * i + 1] = outcome, due
end
local promises, dead_promises
if any_dead then
  local head = tonumber(redis.call('ZRANGE', key_dead_delayed, '0', '0', 'WITHSCORES')[2])
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
  seen_remember(now, remembered)
end
-- At once: if one of the commands below is refused, a message that stays is in one set all the same. ZREM is not refused: it
-- was the first write. A message that becomes a dead letter is held until it has left then, and may leave a second dead letter.
if #kept > 0 then
  redis.call('HSET', key_state, unpack(fields))
  for i = 1, count do
    if levels[i] then
      place_use_priority(levels[i])
      redis.call('ZADD', queue_delayed_set(levels[i]), answers[2 * i + 1], ids[i])
    end
  end
  redis.call('ZREM', key_leased, unpack(kept))
end
for i = 1, count do
  if dead[i] then
    local dead_id = ids[i] .. '@' .. string.format('%.0f', now)
    local body = redis.call('HGET', key_messages, ids[i])
    if body then
      redis.call('HSET', key_dead_messages, dead_id, body)
      redis.call('HSET', key_dead_state, dead_id, record_write(dead[i]))
      redis.call('ZADD', key_dead_delayed, now, dead_id)
      redis.call('ZADD', key_dead_index, '0', index_member(dead_id))
      answers[2 * i + 1] = now
    end
  end
end
if any_dead and redis.call('HEXISTS', key_dead_config, 'paused') == 1 then
  redis.call('PERSIST', key_dead_config)
end
if #gone > 0 then
  redis.call('HDEL', key_messages, unpack(gone))
  redis.call('HDEL', key_state, unpack(gone))
  redis.call('ZREM', key_leased, unpack(gone))
end
index_forget(key_index, gone)
return effect_end(struct.pack('<d' .. string.rep('Bd', count), unpack(answers)))
