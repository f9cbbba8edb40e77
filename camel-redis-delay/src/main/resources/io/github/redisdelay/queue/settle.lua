-- Finishes deliveries: acknowledges them, returns them to the queue, or gives them up.
--
-- KEYS  1 to 16 see queue.lua  17 dead messages  18 dead delayed  19 dead state
-- ARGV  1 lane  2 sequence  3 wake-up channel  4 the queue's base key  5 the dead letters' base key
--       then five for each delivery, at most 256:
--         id
--         claim id (16 bytes)
--         a acknowledge, n return with a delay, r release, b bury in the dead letters, x discard
--         for n the delay in microseconds; for a, b and x for how many microseconds the id stays a duplicate; else 0
--         for n and b what to keep of the failure, else nothing
-- Reply bytes: struct 'd' time of the call, then for each delivery 'Bd' outcome and new due time (0: none)
--         1 done  2 stale: the message is gone  3 stale: it waits, or another delivery holds it
-- Cost  O(log N) for each delivery; burying copies the body
--
-- Acts only on a message that is leased under this very claim id. A release gives the attempt back and restores the due
-- time. A dead letter's id is the message's id, '@' and the time in microseconds, so that the id is free again.

--@include call.lua
--@include record.lua
--@include queue.lua

local dead_messages, dead_delayed, dead_state = KEYS[17], KEYS[18], KEYS[19]
local lane = ARGV[1]
local sequence = integer(ARGV[2], 1, MAX_EXACT, 'sequence')
local count = (#ARGV - 5) / 5
if count < 1 or count > 256 or count ~= math.floor(count) then
  error('REDISDELAY argument: number of deliveries')
end

local stored, first = repeated(calls, lane, sequence)
if stored then
  return stored
end
read_config()
redis.call('HLEN', messages)
redis.call('ZCARD', leased)
redis.call('ZCARD', delayed)
redis.call('HLEN', state)
any_seen()

local now = server_time()
local outcomes, dues, records, levels = {}, {}, {}, {}
local earliest, burials = math.huge, false
for i = 1, count do
  local at = 5 + (i - 1) * 5
  local id, action = ARGV[at + 1], ARGV[at + 3]
  if #id == 0 or #ARGV[at + 2] ~= 16 or ARGV[at + 2] == NO_CLAIM or not string.find(action, '^[anrbx]$') then
    error('REDISDELAY argument: delivery ' .. i)
  end
  local delay = integer(ARGV[at + 4], 0, MAX_EXACT, 'delay of delivery ' .. i)
  local held, bytes = holds(leased, state, id, ARGV[at + 2])
  if held then
    outcomes[i] = 1
    if action == 'n' or action == 'r' then
      local record = read_record(bytes, now, 0)
      record.claim = NO_CLAIM
      levels[i] = waiting_priority(record)
      check_priority(levels[i])
      if action == 'n' then
        record.due = math.min(now + delay + (i - 1), MAX_EXACT)
        record.lost = 0
        record.reason = 1
        record.failure = ARGV[at + 5]
      else
        record.attempts = math.max(0, record.attempts - 1)
        record.reason = 3
      end
      dues[i] = record.due
      earliest = math.min(earliest, record.due)
      records[i] = write_record(record)
    elseif action == 'b' then
      -- In the dead letters the attempts start anew; what this queue knew is in the failure.
      local record = read_record(bytes, now, 0)
      record.claim = NO_CLAIM
      record.priority = record.priority % DEAD + DEAD
      record.attempts, record.lost, record.reason = 0, 0, 0
      record.due = now
      record.failure = ARGV[at + 5]
      records[i] = write_record(record)
      burials = true
    end
  elseif redis.call('HEXISTS', messages, id) == 1 then
    outcomes[i] = 3
  else
    outcomes[i] = 2
  end
end
if burials then
  redis.call('HLEN', dead_messages)
  redis.call('HLEN', dead_state)
  local head = tonumber(redis.call('ZRANGE', dead_delayed, 0, 0, 'WITHSCORES')[2])
  if not head or now < head then
    publish_wait(ARGV[3], ARGV[5], 0)
  end
end
if earliest < math.huge then
  wake_up(ARGV[3], ARGV[4], earliest, now)
end

-- Needs no memory: after it, nothing is refused when memory is full.
redis.call('ZREM', delayed, '')
rehearse(calls, leased, first)
local reply = { struct.pack('<d', now) }
local remembered = false
for i = 1, count do
  local at = 5 + (i - 1) * 5
  local id, action = ARGV[at + 1], ARGV[at + 3]
  -- A second call for the same delivery within one batch finds it finished.
  if outcomes[i] == 1 and redis.call('ZREM', leased, id) == 0 then
    outcomes[i] = redis.call('HEXISTS', messages, id) == 1 and 3 or 2
    dues[i] = nil
  elseif outcomes[i] == 1 then
    if records[i] and action ~= 'b' then
      redis.call('HSET', state, id, records[i])
      use_priority(levels[i])
      redis.call('ZADD', delayed_set(levels[i]), dues[i], id)
    else
      if action == 'b' then
        local dead_id = id .. '@' .. string.format('%.0f', now)
        local body = redis.call('HGET', messages, id)
        if body then
          redis.call('HSET', dead_messages, dead_id, body)
          redis.call('HSET', dead_state, dead_id, records[i])
          redis.call('ZADD', dead_delayed, now, dead_id)
        end
      end
      redis.call('HDEL', messages, id)
      redis.call('HDEL', state, id)
      local remember_for = tonumber(ARGV[at + 4])
      if remember_for > 0 then
        redis.call('ZADD', seen, math.min(now + remember_for, MAX_EXACT), id)
        remembered = true
      end
    end
  end
  reply[i + 1] = struct.pack('<Bd', outcomes[i], dues[i] or 0)
end
if remembered then
  forget_some(now)
end
reply = table.concat(reply)
remember(calls, lane, sequence, now, reply, first)
return reply
