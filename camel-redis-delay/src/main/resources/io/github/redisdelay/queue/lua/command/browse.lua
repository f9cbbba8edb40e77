-- Reads a page of messages in the order of their due times, or of the times at which their leases expire. Changes nothing.
--
-- KEYS  messages, delayed, leased, state, config, consumers; priorities
-- ARGV  1 which messages: delayed, which has parked ones, too; parked, due or not; or leased  2 how many at the most, 1 to 256
--       3 the score and 4 the id behind which the page begins: of the first page -inf and nothing, of a next page those of
--         the last row before it; to begin at a time, that time and nothing
--       5 newest: the page has the messages before that position, the last one first; the first page begins at inf and
--         nothing. Else nothing, or missing
-- Reply  a list: for each message a row, see row.lua
-- Errors  argument, config, needs, partitions
-- Cost  O(log N) for each message, and one comparison for each priority in use

--@include call.lua
--@include clock.lua
--@include check.lua
--@include record.lua
--@include queue.lua
--@include place.lua
--@include member.lua
--@include row.lua
--@include page.lua

local which = ARGV[1]
local limit = check_integer(ARGV[2], 1, 256, 'limit')
-- Any score: others may have written any, and a page that ends with one must not be the last.
local score, after_id = ARGV[3], ARGV[4]
local newest = ARGV[5] == 'newest'
if not tonumber(score) then
  error('REDISDELAY argument: score')
end
if which ~= 'delayed' and which ~= 'parked' and which ~= 'leased' then
  error('REDISDELAY argument: state')
end
if ARGV[5] and ARGV[5] ~= '' and not newest then
  error('REDISDELAY argument: direction')
end

queue_read_config()
-- For each set what it has behind the position, and the place of the next row in it.
local runs = {}

local function look_into(set, priority)
  local rank = page_begin(set, score, after_id, newest)
  local run
  if newest then
    rank = redis.call('ZCARD', set) - rank
    run = redis.call('ZRANGE', set, rank, rank + limit - 1, 'REV', 'WITHSCORES')
  else
    run = redis.call('ZRANGE', set, rank, rank + limit - 1, 'WITHSCORES')
  end
  if #run > 0 then
    runs[#runs + 1] = { members = run, at = 1, score = tonumber(run[2]), priority = priority }
  end
end

if which == 'leased' then
  look_into(key_leased, 0)
else
  for i = which == 'parked' and #queue_priorities + 1 or 0, #queue_priorities + (queue_places and 1 or 0) do
    look_into(queue_delayed_set(queue_priorities[i]), queue_priorities[i] or 0)
  end
end

-- Tells which of two runs has the next row. Their members differ: no id is in two sets.
local function is_next(a, b)
  if a.score ~= b.score then
    return (a.score < b.score) ~= newest
  end
  return page_is_before(a.members[a.at], b.members[b.at]) ~= newest
end

-- Merged, and not sorted: so no more are looked at than are answered.
local reply, left = {}, limit
while left > 0 and #runs > 0 do
  local n = 1
  for i = 2, #runs do
    if is_next(runs[i], runs[n]) then
      n = i
    end
  end
  local run = runs[n]
  row_append(reply, run.members[run.at], run.score, run.priority, which == 'leased')
  left, run.at = left - 1, run.at + 2
  if run.members[run.at] then
    run.score = tonumber(run.members[run.at + 1])
  else
    table.remove(runs, n)
  end
end
return reply
