-- Counts the messages that become due in each of several steps of time. Changes nothing.
--
-- KEYS  delayed, leased, config; priorities
-- ARGV  the bounds of the steps in microseconds since the epoch, 2 to 241, each later than the one before
-- Reply bytes: struct 'd' each: time of the call; how many are due before the first bound; for each step how many are due at
--       its first bound or later and before the next one; how many are due at the last bound or later
-- Errors  argument, config, needs, partitions
-- Cost  O(log N) for each step and each priority in use

--@include call.lua
--@include clock.lua
--@include check.lua
--@include queue.lua

if #ARGV < 2 or #ARGV > 241 then
  error('REDISDELAY argument: number of bounds')
end
-- The bounds as ZCOUNT takes them, each for what is due before it.
local ends, last = {}, -1
for i = 1, #ARGV do
  last = check_integer(ARGV[i], last + 1, CALL_MAX_EXACT, 'bound ', i)
  ends[i] = '(' .. ARGV[i]
end

queue_read_config()
-- The counts as they are in the reply: before the first bound, in each step, behind the last bound.
local counts = {}
for i = 0, #ends do
  counts[i + 1] = 0
end

for p = 0, #queue_priorities + (queue_places and 1 or 0) do
  local set = queue_delayed_set(queue_priorities[p])
  local left = redis.call('ZCARD', set)
  local before, i = 0, 1
  while i <= #ends and left > 0 do
    local all = redis.call('ZCOUNT', set, '-inf', ends[i])
    counts[i], left = counts[i] + all - before, left - (all - before)
    before, i = all, i + 1
  end
  counts[#counts] = counts[#counts] + left
end
return struct.pack('<d' .. string.rep('d', #counts), clock_now, unpack(counts))
