-- Reads a queue's figures. Changes nothing.
--
-- KEYS  messages, delayed, leased, config, consumers, dead:delayed, dead:leased; priorities
-- Reply bytes: struct 'dddddddddddddd' time of the call; messages delayed, overdue (due, neither claimed nor parked), leased,
--       dead; for how many microseconds the oldest overdue message has been due (0: none is); in how many microseconds the next one
--       will be due that is not yet (-1: there is none); consumers seen in the last 140 s; since when the queue is
--       paused (0: it is not); when the last message is due (0: there is none); messages stored; when a consumer found that
--       Redis has lost data of the queue (0: not within a day); messages that are due and parked, or
--       delayed by a limit of the queue; for how many microseconds the oldest of these has been due (0: none is)
-- Errors  config, needs, partitions
-- Cost  O(log N), and one step for each consumer

--@include call.lua
--@include clock.lua
--@include check.lua
--@include queue.lua

local SEEN_LATELY = 140 * 1000000

queue_read_config()
local now = clock_now
local waiting, overdue, coming, last = 0, 0, nil, 0

for i = 0, #queue_priorities + (queue_places and 1 or 0) do
  local set = queue_delayed_set(queue_priorities[i])
  waiting = waiting + redis.call('ZCARD', set)
  overdue = overdue + redis.call('ZCOUNT', set, '-inf', now)
  local next = tonumber(redis.call('ZRANGEBYSCORE', set, string.format('(%.0f', now), '+inf', 'WITHSCORES', 'LIMIT', 0, 1)[2])
  if next and (not coming or next < coming) then
    coming = next
  end
  last = math.max(last, tonumber(redis.call('ZRANGE', set, -1, -1, 'WITHSCORES')[2]) or 0)
end
local parked = queue_places and redis.call('ZCOUNT', queue_delayed_set(10), '-inf', now) or 0
-- While a limit of the queue delays messages, they are not overdue: it was used up within the last second.
local freed = tonumber(redis.call('HGET', key_config, 'freed') or 0)
local held = math.max(select(2, queue_first_due(0)), freed <= now and freed or 0) > now - 1000000
queue_priorities.limits = nil
local oldest = queue_first_due()
local listening, records = 0, redis.call('HVALS', key_consumers)
for i = 1, #records do
  if #records[i] >= 8 and struct.unpack('<d', records[i]) > now - SEEN_LATELY then
    listening = listening + 1
  end
end
local lost = redis.call('HGET', key_consumers, 'lost')
lost = lost and #lost == 4 and struct.unpack('<I4', lost) * 1000000 or 0
local oldest_parked = parked > 0 and queue_head(queue_delayed_set(10)) or nil
if held then
  parked, oldest, oldest_parked = overdue, nil, math.min(oldest or now, oldest_parked or now)
end
return struct.pack('<dddddddddddddd', now, waiting, overdue - parked,
  redis.call('ZCARD', key_leased),
  redis.call('ZCARD', key_dead_delayed) + redis.call('ZCARD', key_dead_leased),
  oldest and math.max(0, now - math.max(0, oldest)) or 0, -- others may have written a time before 1970
  coming and coming - now or -1,
  listening,
  queue_paused and math.max(1, tonumber(queue_paused) or 1) or 0,
  last,
  redis.call('HLEN', key_messages),
  lost > now - CALL_UNUSED_MICROS and lost or 0,
  parked,
  oldest_parked and now - math.max(0, oldest_parked) or 0)
