-- Acknowledges deliveries whose ids need not be remembered: what settle.lua does for 'acknowledge', for less. Nearly all
-- deliveries end here.
--
-- KEYS  messages, leased, state, sessions, config
-- ARGV  1 session  2 sequence
--       then, as items.lua reads them, two for each delivery, at most 256: id, claim id (16 bytes)
-- Reply bytes: struct 'd' time of the call; then, unless all are done, for each delivery 'Bd' outcome and 0
--         1 done  2 stale: the message is gone  3 stale: it waits, or another delivery holds it
-- Errors  argument, needs, superseded: nothing is changed
-- Cost  O(log N) for each delivery
--
-- Those of messages with a group end by settle.lua, which gives the place to another one of the group.
-- Acts only on a message that is held under this very claim id. The state record alone tells that: what ends a lease removes
-- the record or its claim id, and what stores a message removes a record that its id still has. So `leased` is not read.

--@include call.lua
--@include clock.lua
--@include items.lua
--@include session.lua
--@include check.lua
--@include effect.lua
--@include record.lua

if session_stored then
  return session_stored
end
local count, ids, claims = items_count, items_columns[1], items_columns[2]
effect_begin()
check_needs(redis.call('HGET', key_config, 'needs'))

local records = redis.call('HMGET', key_state, unpack(ids))
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
      if string.byte(record, 4) >= RECORD_GROUP then
        error('REDISDELAY argument: delivery ' .. i .. ' has a group')
      end
    else
      outcomes[i] = redis.call('HEXISTS', key_messages, ids[i]) == 1 and 3 or 2
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
  if redis.call('HDEL', key_messages, unpack(finished)) < #finished then
    -- A delivery that is finished twice in this call is stale the second time.
    local done = {}
    for i = 1, count do
      if not outcomes[i] then
        outcomes[i] = done[ids[i]] and 2
        done[ids[i]] = true
      end
    end
  end
  redis.call('HDEL', key_state, unpack(finished))
  redis.call('ZREM', key_leased, unpack(finished))
else
  redis.call('ZREM', key_leased, '')
end
local answers, told = { clock_now }, next(outcomes) and count or 0
for i = 1, told do
  answers[2 * i], answers[2 * i + 1] = outcomes[i] or 1, 0
end
return effect_end(struct.pack('<d' .. string.rep('Bd', told), unpack(answers)))
