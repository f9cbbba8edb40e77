-- Moves dead letters back into their queue, due now.
--
-- KEYS  messages, delayed, leased, state, sessions, config, waiters, dead:messages, dead:delayed, dead:leased, dead:state,
--       dead:index (see index.lua); priorities
-- ARGV  1 session  2 sequence  3 the queue's base key
--       then, as items.lua reads them, two for each dead letter, at most 256:
--         its id: the message's id, '@' and digits
--         the claim id (16 bytes) of its delivery, if the caller holds that; else nothing
-- Reply bytes: struct 'd' time of the call, then for each dead letter 'Bd' outcome and due time (0: none)
--         0 there is none  1 redriven  2 its id is in use  3 a consumer of dead letters holds it
-- Errors  argument, config, keys, needs, partitions, superseded: nothing is changed
-- Cost  O(log N) for each dead letter, and the copy of its body
--
-- The message begins anew: no attempts, scheduled now; its priority stays. The run of a recurring schedule becomes a message
-- with the id of its dead letter, and keeps its nominal time. A leased dead letter moves only for whoever holds it under this
-- very claim id.

--@include call.lua
--@include clock.lua
--@include items.lua
--@include session.lua
--@include check.lua
--@include effect.lua
--@include record.lua
--@include run.lua
--@include queue.lua
--@include pause.lua
--@include place.lua
--@include member.lua
--@include page.lua
--@include message.lua
--@include wakeup.lua
--@include group.lua
--@include index.lua

local NONE, REDRIVEN, IN_USE, HELD = 0, 1, 2, 3

if session_stored then
  return session_stored
end
local base, now = ARGV[3], clock_now
local dead_ids, claims = items_columns[1], items_columns[2]
effect_begin()
queue_read_config()

-- The records of those that may move, and their groups.
local records, groups = {}, {}
for i = 1, items_count do
  local dead_id, claim = dead_ids[i], claims[i]
  if #dead_id == 0 or (#claim ~= 0 and #claim ~= 16) or claim == RECORD_NO_CLAIM then
    error('REDISDELAY argument: dead letter ' .. i)
  end
  if redis.call('ZSCORE', key_dead_delayed, dead_id)
      or (#claim > 0 and record_is_held(key_dead_state, dead_id, claim)) then
    records[i] = record_read(redis.call('HGET', key_dead_state, dead_id), now, 0)
    queue_need_priorities(records[i].priority % RECORD_DEAD > 0)
    groups[i] = member_stored(redis.call('HGET', key_dead_messages, dead_id))
    if groups[i] then
      queue_read_config(false, true)
    end
  end
end
local before = queue_places and queue_first_due()
local promises = next(records) and not queue_places and wakeup_cover_earlier(base, now, now)

-- Needs no memory: after it, nothing is refused when memory is full.
redis.call('ZREM', key_delayed, '')
wakeup_write(wakeup_waiters, promises)
local reply = { struct.pack('<d', now) }
for i = 1, items_count do
  local dead_id = dead_ids[i]
  local record, outcome, due = records[i], NONE, 0
  -- One that is named twice is gone the second time.
  local body = record and redis.call('HGET', key_dead_messages, dead_id)
  if body then
    -- A run of a recurring schedule comes once, beside its schedule, and so under an id of its own, which it keeps.
    local run_time, rule = string.match(record_run(record), '@(%d+) (.*)\n$')
    local id = (record.priority < RECORD_RUN or rule == '') and index_parts(dead_id) or dead_id
    if place_find(id) or redis.call('ZSCORE', key_leased, id) then
      outcome = IN_USE
    else
      outcome, due = REDRIVEN, now + (i - 1)
      local _, at = member_stored(body)
      message_store(id, record.priority % RECORD_DEAD, now, due, string.sub(body, at or 17), groups[i], group_add)
      if run_time then
        redis.call('HSET', key_state, id, run_record(due, record.priority - RECORD_DEAD, '0@0@' .. run_time, '', '', groups[i]))
      end
      redis.call('HDEL', key_dead_messages, dead_id)
      redis.call('HDEL', key_dead_state, dead_id)
      redis.call('ZREM', key_dead_delayed, dead_id)
      redis.call('ZREM', key_dead_leased, dead_id)
      index_forget(key_dead_index, { dead_id })
    end
  elseif redis.call('ZSCORE', key_dead_leased, dead_id) then
    outcome = HELD
  end
  reply[i + 1] = struct.pack('<Bd', outcome, due)
end
group_end(base, now, before)
pause_keep()
return effect_end(table.concat(reply))
