-- Moves dead letters back into their queue, due now.
--
-- KEYS  1 to 17 see queue.lua  18 dead messages  19 dead delayed  20 dead leased  21 dead state
--       22 dead index, see index.lua
-- ARGV  1 session  2 sequence  3 the queue's base key
--       then two for each dead letter, at most 256:
--         its id: the message's id, '@' and digits
--         the claim id (16 bytes) of its delivery, if the caller holds that; else nothing
-- Reply bytes: struct 'd' time of the call, then for each dead letter 'Bd' outcome and due time (0: none)
--         0 there is none  1 redriven  2 its id is in use  3 a consumer of dead letters holds it
-- Errors  argument, config, format, partitions, superseded: nothing is changed
-- Cost  O(log N) for each dead letter, and the copy of its body
--
-- The message begins anew: no attempts, scheduled now; its priority stays. A leased dead letter moves only for whoever holds
-- it under this very claim id.

--@include call.lua
--@include session.lua
--@include record.lua
--@include queue.lua
--@include place.lua
--@include wakeup.lua
--@include index.lua

local NONE, REDRIVEN, IN_USE, HELD = 0, 1, 2, 3

local dead_messages, dead_delayed, dead_leased, dead_state = KEYS[18], KEYS[19], KEYS[20], KEYS[21]
local dead_index = KEYS[22]
local base = ARGV[3]
local count = call_items(3, 2, 'dead letters')
local now, stored = session_begin(QUEUE_KINDS, 'hzzhz')
if stored then
  return stored
end
queue_read_config()

-- The priorities of those that may move.
local levels = {}
local any = false
for i = 1, count do
  local dead_id, claim = ARGV[2 * i + 2], ARGV[2 * i + 3]
  if #dead_id == 0 or (#claim ~= 0 and #claim ~= 16) or claim == RECORD_NO_CLAIM then
    error('REDISDELAY argument: dead letter ' .. i)
  end
  if redis.call('ZSCORE', dead_delayed, dead_id)
      or (#claim > 0 and record_is_held(dead_leased, dead_state, dead_id, claim)) then
    levels[i] = record_read(redis.call('HGET', dead_state, dead_id), now, 0).priority % RECORD_DEAD
    any = true
  end
end
local promises = any and wakeup_cover_earlier(base, now, now)

-- Needs no memory: after it, nothing is refused when memory is full.
redis.call('ZREM', queue_delayed, '')
wakeup_write(wakeup_waiters, promises)
local reply = { struct.pack('<d', now) }
for i = 1, count do
  local dead_id = ARGV[2 * i + 2]
  local outcome, due = NONE, 0
  -- One that is named twice is gone the second time.
  local body = levels[i] and redis.call('HGET', dead_messages, dead_id)
  if body then
    local id = index_parts(dead_id) or dead_id
    if place_find(id) or redis.call('ZSCORE', queue_leased, id) then
      outcome = IN_USE
    else
      outcome, due = REDRIVEN, now + (i - 1)
      redis.call('HDEL', queue_state, id)
      redis.call('HSET', queue_messages, id, struct.pack('<dd', now, due) .. string.sub(body, 17))
      place_use_priority(levels[i])
      redis.call('ZADD', queue_delayed_set(levels[i]), due, id)
      redis.call('HDEL', dead_messages, dead_id)
      redis.call('HDEL', dead_state, dead_id)
      redis.call('ZREM', dead_delayed, dead_id)
      redis.call('ZREM', dead_leased, dead_id)
      index_forget(dead_index, { dead_id })
    end
  elseif redis.call('ZSCORE', dead_leased, dead_id) then
    outcome = HELD
  end
  reply[i + 1] = struct.pack('<Bd', outcome, due)
end
return session_end(now, table.concat(reply))
