-- Reads the next messages of a delayed queue of Redisson's, those that are due first. Changes nothing.
--
-- KEYS  source, ready: see import.lua
-- ARGV  1 up to when pending messages are answered: 'all' that are there now; 'ahead=' and microseconds from now; or
--         'until=' and a score that the reply before has named
--       2 how many messages at the most, 1 to 256  3 how many bytes at the most; one message is answered whatever its size
--       4 where in the list of ready ones to begin, from 0  5 how many of these at the most
--       6 the score and 7 the element behind which the pending ones begin: -inf and nothing at first, then those of the last
--         one before
-- Reply  a list: struct '<dddd' time of the call, how many are ready, how many are pending, and whether there is more to
--        answer (1) or not (0); the score up to which pending ones are answered; the next score behind that, or nothing;
--        then two for each message: its score, or nothing if it is ready, and its element or payload
-- Errors  argument
-- Cost  O(log N) for each message, and a step for each ready one before the first

--@include call.lua
--@include clock.lua
--@include check.lua
--@include page.lua

local LONGEST_STEP = 16

local limit = check_integer(ARGV[2], 1, 256, 'limit')
local bytes = check_integer(ARGV[3], 1, CALL_MAX_EXACT, 'bytes')
local first_ready = check_integer(ARGV[4], 0, CALL_MAX_EXACT, 'first')
local most_ready = check_integer(ARGV[5], 0, CALL_MAX_EXACT, 'ready')
local score, element = ARGV[6], ARGV[7]
if not tonumber(score) or not element then
  error('REDISDELAY argument: score')
end

local now = clock_now
local ahead, last = string.match(ARGV[1], '^ahead=(%d+)$'), string.match(ARGV[1], '^until=(.+)$')
if ARGV[1] == 'all' then
  last = redis.call('ZRANGE', key_source, -1, -1, 'WITHSCORES')[2] or '-inf'
elseif ahead then
  ahead = check_integer(ahead, 0, CALL_MAX_EXACT, 'ahead')
  last = string.format('%.0f', math.floor((now + ahead) / 1000))
end
if not last or not tonumber(last) then
  error('REDISDELAY argument: until')
end

local found, size, full = {}, 0, false
-- Small steps first, because messages may be large.
local step = 1

-- Adds a message to the reply, unless it is full.
local function add(due, message)
  full = full or (#found > 0 and size + #message > bytes)
  if not full then
    found[#found + 1] = due
    found[#found + 1] = message
    size = size + #message
    full = #found == 2 * limit
  end
end

local at, stop = first_ready, first_ready + most_ready
while at < stop and not full do
  local some = redis.call('LRANGE', key_ready, at, math.min(at + step, stop) - 1)
  for i = 1, #some do
    add('', some[i])
  end
  at = #some == 0 and stop or at + #some
  step = math.min(2 * step, LONGEST_STEP)
end
local rank = full or page_begin(key_source, score, element)
local limit_score = tonumber(last)
while rank and not full do
  local some = redis.call('ZRANGE', key_source, rank, rank + step - 1, 'WITHSCORES')
  rank = #some > 0 and rank + #some / 2
  for i = 1, #some, 2 do
    if tonumber(some[i + 1]) > limit_score then
      rank = false
      break
    end
    add(some[i + 1], some[i])
  end
  step = math.min(2 * step, LONGEST_STEP)
end

local reply = {
  struct.pack('<dddd', now, redis.call('LLEN', key_ready), redis.call('ZCARD', key_source), full and 1 or 0),
  last,
  redis.call('ZRANGEBYSCORE', key_source, '(' .. last, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)[2] or '',
}
for i = 1, #found do
  reply[i + 3] = found[i]
end
return reply
