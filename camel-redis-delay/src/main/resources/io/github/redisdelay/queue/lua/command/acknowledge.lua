-- Acknowledges deliveries whose ids need not be remembered: what settle.lua does for 'acknowledge', for less. Nearly all
-- deliveries end here.
--
-- KEYS  1 messages  2 delayed  3 leased  4 state  5 sessions  6 config: the first of queue.lua
-- ARGV  1 session  2 sequence
--       then, as items.lua reads them, two for each delivery, at most 256: id, claim id (16 bytes)
-- Reply bytes: struct 'd' time of the call; then, unless all are done, for each delivery 'Bd' outcome and 0
--         1 done  2 stale: the message is gone  3 stale: it waits, or another delivery holds it
-- Errors  argument, format, superseded: nothing is changed
-- Cost  O(log N) for each delivery
--
-- Acts only on a message that is held under this very claim id. The state record alone tells that: what ends a lease removes
-- the record or its claim id, and what stores a message removes a record that its id still has. So `leased` is not read.

--@include call.lua
--@include items.lua
--@include session.lua
--@include record.lua

local messages, leased, state, config = KEYS[1], KEYS[3], KEYS[4], KEYS[6]
local count, items = items_read(2, 2, 'deliveries')
local ids, claims = items[1], items[2]
local now, stored = session_begin('hzzhhh', '')
if stored then
  return stored
end
call_check_format(redis.call('HGET', config, 'format'))

local records = redis.call('HMGET', state, unpack(ids))
-- The outcomes of those that are not done.
local outcomes = {}
-- A record that is held under this claim id. Most messages of a claim have the same.
local held, holder
for i = 1, count do
  local claim, record = claims[i], records[i]
  if ids[i] == '' or #claim ~= 16 or claim == RECORD_NO_CLAIM then
    error('REDISDELAY argument: delivery ' .. i)
  end
  if record ~= held or claim ~= holder then
    -- As record_has_claim tells, without a call for each.
    if record and #record >= RECORD_BRIEF and string.find(record, claim, 9, true) == 9 then
      held, holder = record, claim
    else
      outcomes[i] = redis.call('HEXISTS', messages, ids[i]) == 1 and 3 or 2
    end
  end
end
local finished = ids
if next(outcomes) then
  finished = {}
  for i = 1, count do
    if not outcomes[i] then
      finished[#finished + 1] = ids[i]
    end
  end
end

-- The first write needs no memory: after it, nothing is refused when memory is full.
if #finished > 0 then
  if redis.call('HDEL', messages, unpack(finished)) < #finished then
    -- A delivery that is finished twice in this call is stale the second time.
    local done = {}
    for i = 1, count do
      if not outcomes[i] then
        outcomes[i] = done[ids[i]] and 2
        done[ids[i]] = true
      end
    end
  end
  redis.call('HDEL', state, unpack(finished))
  redis.call('ZREM', leased, unpack(finished))
else
  redis.call('ZREM', leased, '')
end
local answers, told = { now }, next(outcomes) and count or 0
for i = 1, told do
  answers[2 * i], answers[2 * i + 1] = outcomes[i] or 1, 0
end
return session_end(now, struct.pack('<d' .. string.rep('Bd', told), unpack(answers)))
