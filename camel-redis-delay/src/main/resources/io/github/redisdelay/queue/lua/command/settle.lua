-- Finishes deliveries: acknowledges them, returns them to the queue, or gives them up.
--
-- KEYS  1 to 16 see queue.lua  17 see wakeup.lua  18 dead messages  19 dead delayed  20 dead state  21 dead waiting
--       22 index of the dead letters, see index.lua  23 the index that these messages are in if they are dead letters
-- ARGV  1 lane  2 sequence  3 the queue's base key  4 the dead letters' base key
--       then five for each delivery, at most 256:
--         id
--         claim id (16 bytes)
--         a acknowledge, n return with a delay, r release, b bury in the dead letters, x discard
--         for n the delay in microseconds; for a, b and x for how many microseconds the id stays a duplicate; else 0
--         for n and b what to keep of the failure, else nothing
-- Reply bytes: struct 'd' time of the call, then for each delivery 'Bd' outcome and, of what was returned, the new due time; of what
--       is a dead letter now, the time in its id (0: neither)
--         1 done  2 stale: the message is gone  3 stale: it waits, or another delivery holds it
-- Cost  O(log N) for each delivery; burying copies the body
--
-- Acts only on a message that is leased under this very claim id. A release gives the attempt back and restores the due
-- time. A dead letter's id is the message's id, '@' and the time in microseconds, so that the id is free again.

--@include session.lua
--@include record.lua
--@include queue.lua
--@include place.lua
--@include seen.lua
--@include wakeup.lua
--@include index.lua

local ACTIONS = { a = true, n = true, r = true, b = true, x = true }
local dead_messages, dead_delayed, dead_state, dead_waiting = KEYS[18], KEYS[19], KEYS[20], KEYS[21]
local dead_letters, letters = KEYS[22], KEYS[23]
local lane = ARGV[1]
local sequence = integer(ARGV[2], 1, MAX_EXACT, 'sequence')
local count = (#ARGV - 4) / 5
if count < 1 or count > 256 or count ~= math.floor(count) then
  error('REDISDELAY argument: number of deliveries')
end

local now = server_time()
local stored, first = repeated(calls, lane, sequence, now)
if stored then
  return stored
end
read_config(true)
redis.call('HLEN', messages)
any_seen()

local ids, claims, micros = {}, {}, {}
for i = 1, count do
  local at = 4 + (i - 1) * 5
  local id, claim = ARGV[at + 1], ARGV[at + 2]
  if #id == 0 or #claim ~= 16 or claim == NO_CLAIM or not ACTIONS[ARGV[at + 3]] then
    error('REDISDELAY argument: delivery ' .. i)
  end
  ids[i], claims[i] = id, claim
  micros[i] = integer(ARGV[at + 4], 0, MAX_EXACT, 'delay of delivery ', i)
end
local held, bytes = which_are_held(leased, state, ids, claims)

-- What is returned or buried, by index: its new record.
local returned, buried = {}, {}
-- Ids: all that are acted on; those of them that end here; those that are remembered, each behind its time.
local finished, gone, remembered = {}, {}, {}
-- id -> how this call finishes it. A second time it is stale.
local done = {}
local answers = { now }
local earliest, burials = math.huge, false
for i = 1, count do
  local at = 4 + (i - 1) * 5
  local id, action = ids[i], ARGV[at + 3]
  local outcome, due = 1, 0
  if not held[i] then
    outcome = redis.call('HEXISTS', messages, id) == 1 and 3 or 2
  elseif done[id] then
    outcome = (done[id] == 'n' or done[id] == 'r') and 3 or 2
  else
    done[id] = action
    finished[#finished + 1] = id
    if action == 'n' or action == 'r' then
      local record = read_record(bytes[i], now, 0)
      record.claim = NO_CLAIM
      check_priority(waiting_priority(record))
      if action == 'n' then
        record.due = math.min(now + micros[i] + (i - 1), MAX_EXACT)
        record.lost = 0
        record.reason = 1
        record.failure = ARGV[at + 5]
      else
        record.attempts = math.max(0, record.attempts - 1)
        record.reason = 3
      end
      due = record.due
      earliest = math.min(earliest, due)
      returned[i] = record
    else
      gone[#gone + 1] = id
      if micros[i] > 0 then
        remembered[#remembered + 1] = math.min(now + micros[i], MAX_EXACT)
        remembered[#remembered + 1] = id
      end
      if action == 'b' then
        -- In the dead letters the attempts start anew; what this queue knew is in the failure.
        local record = read_record(bytes[i], now, 0)
        record.claim = NO_CLAIM
        record.priority = record.priority % DEAD + DEAD
        record.attempts, record.lost, record.reason = 0, 0, 0
        record.due = now
        record.failure = ARGV[at + 5]
        buried[i] = record
        burials = true
      end
    end
  end
  answers[2 * i], answers[2 * i + 1] = outcome, due
end
local called, dead_called
if burials then
  redis.call('HLEN', dead_messages)
  redis.call('HLEN', dead_state)
  redis.call('ZCARD', dead_letters)
  local head = tonumber(redis.call('ZRANGE', dead_delayed, '0', '0', 'WITHSCORES')[2])
  if not head or now < head or head < now - OVERDUE then
    dead_called = cover(dead_waiting, ARGV[4], now, now)
  end
end
if earliest < math.huge then
  redis.call('ZCARD', delayed)
  called = cover_earlier(ARGV[3], earliest, now)
end
local members = members_of(gone)
if #members > 0 then
  redis.call('ZCARD', letters)
end

-- Needs no memory: after it, nothing is refused when memory is full.
redis.call('ZREM', leased, '')
local only_gone = #gone == #finished and #remembered == 0 and not burials
if first or not only_gone then
  rehearse(calls, leased, first)
end
keep_promises(waiting, called)
keep_promises(dead_waiting, dead_called)
if #finished > 0 then
  redis.call('ZREM', leased, unpack(finished))
end
if not only_gone then
  for i = 1, count do
    local id = ids[i]
    if returned[i] then
      local level = waiting_priority(returned[i])
      redis.call('HSET', state, id, write_record(returned[i]))
      use_priority(level)
      redis.call('ZADD', delayed_set(level), returned[i].due, id)
    elseif buried[i] then
      local dead_id = id .. '@' .. string.format('%.0f', now)
      local body = redis.call('HGET', messages, id)
      if body then
        redis.call('HSET', dead_messages, dead_id, body)
        redis.call('HSET', dead_state, dead_id, write_record(buried[i]))
        redis.call('ZADD', dead_delayed, now, dead_id)
        redis.call('ZADD', dead_letters, '0', member_of(dead_id))
        answers[2 * i + 1] = now
      end
    end
  end
end
if #gone > 0 then
  redis.call('HDEL', messages, unpack(gone))
  redis.call('HDEL', state, unpack(gone))
end
if #members > 0 then
  redis.call('ZREM', letters, unpack(members))
end
if #remembered > 0 then
  redis.call('ZADD', seen, unpack(remembered))
  forget_some(now)
end
local reply = struct.pack('<d' .. string.rep('Bd', count), unpack(answers))
remember(calls, lane, sequence, now, reply, first)
return reply
