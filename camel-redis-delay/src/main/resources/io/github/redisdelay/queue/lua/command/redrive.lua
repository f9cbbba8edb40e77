-- Moves dead letters back into their queue, due now.
--
-- KEYS  1 to 16 see queue.lua  17 see wakeup.lua  18 dead messages  19 dead delayed  20 dead leased  21 dead state
--       22 index of the dead letters, see index.lua
-- ARGV  1 lane  2 sequence  3 the queue's base key
--       then two for each dead letter, at most 256:
--         its id: the message's id, '@' and digits
--         the claim id (16 bytes) of its delivery, if the caller holds that; else nothing
-- Reply bytes: struct 'd' time of the call, then for each dead letter 'Bd' outcome and due time (0: none)
--         0 there is none  1 redriven  2 its id is in use  3 a consumer of dead letters holds it
-- Cost  O(log N) for each dead letter, and the copy of its body
--
-- The message begins anew: no attempts, scheduled now; its priority stays. One that is leased moves only for whoever holds it
-- under this very claim id.

--@include session.lua
--@include record.lua
--@include queue.lua
--@include place.lua
--@include wakeup.lua
--@include index.lua

local dead_messages, dead_delayed, dead_leased, dead_state = KEYS[18], KEYS[19], KEYS[20], KEYS[21]
local dead_letters = KEYS[22]
local lane = ARGV[1]
local sequence = integer(ARGV[2], 1, MAX_EXACT, 'sequence')
local count = (#ARGV - 3) / 2
if count < 1 or count > 256 or count % 1 ~= 0 then
  error('REDISDELAY argument: number of dead letters')
end

local now = server_time()
local stored, first = repeated(calls, lane, sequence, now)
if stored then
  return stored
end
read_config()
redis.call('HLEN', messages)
redis.call('ZCARD', delayed)
redis.call('ZCARD', leased)
redis.call('HLEN', state)
redis.call('HLEN', dead_messages)
redis.call('ZCARD', dead_leased)
redis.call('ZCARD', dead_letters)

local levels = {}
local any = false
for i = 1, count do
  local dead_id, claim = ARGV[2 * i + 2], ARGV[2 * i + 3]
  if #dead_id == 0 or (#claim ~= 0 and #claim ~= 16) or claim == NO_CLAIM then
    error('REDISDELAY argument: dead letter ' .. i)
  end
  if redis.call('ZSCORE', dead_delayed, dead_id) or (#claim > 0 and holds(dead_leased, dead_state, dead_id, claim)) then
    levels[i] = read_record(redis.call('HGET', dead_state, dead_id), now, 0).priority % DEAD
    check_priority(levels[i])
    any = true
  end
end
redis.call('HLEN', dead_state)
local called = any and cover_earlier(ARGV[3], now, now)

-- Needs no memory: after it, nothing is refused when memory is full.
redis.call('ZREM', delayed, '')
rehearse(calls, leased, first)
keep_promises(waiting, called)
local scheduled = struct.pack('<d', now)
local reply = { scheduled }
for i = 1, count do
  local dead_id = ARGV[2 * i + 2]
  local outcome, due = 0, 0
  -- One that is named twice is gone the second time.
  local body = levels[i] and redis.call('HGET', dead_messages, dead_id)
  if body then
    local id = parts_of(dead_id) or dead_id
    if find_delayed(id) or redis.call('ZSCORE', leased, id) then
      outcome = 2
    else
      outcome, due = 1, now + (i - 1)
      redis.call('HDEL', state, id)
      redis.call('HSET', messages, id, scheduled .. string.sub(body, 9))
      use_priority(levels[i])
      redis.call('ZADD', delayed_set(levels[i]), due, id)
      redis.call('ZREM', dead_delayed, dead_id)
      redis.call('ZREM', dead_leased, dead_id)
      redis.call('HDEL', dead_messages, dead_id)
      redis.call('HDEL', dead_state, dead_id)
      local member = member_of(dead_id)
      if member then
        redis.call('ZREM', dead_letters, member)
      end
    end
  elseif redis.call('ZSCORE', dead_leased, dead_id) then
    outcome = 3
  end
  reply[i + 1] = struct.pack('<Bd', outcome, due)
end
reply = table.concat(reply)
remember(calls, lane, sequence, now, reply, first)
return reply
