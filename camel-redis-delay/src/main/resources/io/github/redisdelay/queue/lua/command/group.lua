-- Reads a page of a group's messages, and counts them; or names groups with parked messages, by a sample. Changes nothing.
--
-- KEYS  messages, delayed, leased, state, config, consumers; priorities, which may not be left out here
-- ARGV  1 the group, nothing for a sample  2 behind what the page begins: nothing, or what the page before answered
--       3 how many at the most, 0 to 256
-- Reply  a list: struct 'dddd' time of the call, how many messages the group has, how many of them are parked, and until when it
--        is paused, 0 if it is not; behind what the next page begins, nothing at the end; then for each message a row, see row.lua,
--        and its state: delayed, parked or leased
--        of a sample: struct 'd' how many messages are due and parked; then the groups of so many of these as were asked for,
--        taken evenly from all of them
-- Errors  argument, config, needs, partitions
-- Cost  O(log N) for each message
--
-- Failed messages that keep their places come first, then the others with a place, then the parked ones, these by their due times.

--@include call.lua
--@include clock.lua
--@include check.lua
--@include record.lua
--@include queue.lua
--@include place.lua
--@include member.lua
--@include row.lua

local group, behind = ARGV[1], ARGV[2]
local limit = check_integer(ARGV[3], 0, 256, 'limit')
queue_read_config()
if group == '' then
  local due = redis.call('ZCOUNT', queue_delayed_set(10), '-inf', clock_now)
  local reply, most = { struct.pack('<d', due) }, math.min(due, limit)
  for i = 1, most do
    -- One of each part. A fixed step could meet the same one of groups that take turns.
    local rank = math.floor((i - 1 + math.random()) * due / most)
    local id = redis.call('ZRANGE', queue_delayed_set(10), rank, rank)[1]
    reply[#reply + 1] = id and member_group(id)
  end
  return reply
end
local prefix = group .. '\0'
local last = '(' .. prefix .. '\255'
local found = redis.call('ZRANGE', queue_delayed_set(11), '(' .. prefix .. behind, last, 'BYLEX', 'LIMIT', 0, limit)
local reply = {
  struct.pack('<dddd', clock_now, redis.call('ZLEXCOUNT', queue_delayed_set(11), '(' .. prefix, last),
    redis.call('ZLEXCOUNT', queue_delayed_set(11), '[' .. prefix .. MEMBER_PARKED, last), row_paused(group)),
  limit > 0 and #found == limit and string.sub(found[#found], #prefix + 1) or '' }
for i = 1, #found do
  row_append_found(reply, (select(3, member_parts(found[i], group))))
end
return reply
