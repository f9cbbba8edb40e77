-- Counts the messages that become due in each of several steps of time. Changes nothing.
--
-- KEYS  1 to 17 see queue.lua
-- ARGV  the bounds of the steps in microseconds since the epoch, 2 to 241, each later than the one before
-- Reply bytes: struct 'd' each: time of the call; how many are due before the first bound; for each step how many are due at
--       its first bound or later and before the next one; how many are due at the last bound or later
-- Errors  argument, config, format, partitions
-- Cost  O(log N) for each step and each priority in use

--@include call.lua
--@include queue.lua

if #ARGV < 2 or #ARGV > 241 then
  error('REDISDELAY argument: number of bounds')
end
local bounds = {}
for i = 1, #ARGV do
  bounds[i] = call_integer(ARGV[i], i == 1 and 0 or bounds[i - 1] + 1, CALL_MAX_EXACT, 'bound ', i)
end

queue_read_config()
-- The counts as they are in the reply: before the first bound, in each step, behind the last bound.
local counts = {}
for i = 0, #bounds do
  counts[i + 1] = 0
end

local function count(set)
  local before = 0
  for i = 1, #bounds do
    local all = redis.call('ZCOUNT', set, '-inf', string.format('(%.0f', bounds[i]))
    counts[i] = counts[i] + all - before
    before = all
  end
  counts[#bounds + 1] = counts[#bounds + 1] + redis.call('ZCARD', set) - before
end

for i = 0, #queue_priorities do
  count(queue_delayed_set(queue_priorities[i]))
end
return struct.pack('<d' .. string.rep('d', #counts), call_time(), unpack(counts))
