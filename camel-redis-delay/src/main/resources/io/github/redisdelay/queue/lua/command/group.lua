-- Reads a page of a group's messages, and counts them. Changes nothing.
--
-- KEYS  messages, delayed, leased, state, config, consumers; priorities, which may not be left out here
-- ARGV  1 the group  2 behind what the page begins: nothing, or what the page before answered  3 how many at the most, 0 to 256
-- Reply  a list: struct 'dddd' time of the call, how many messages the group has, how many of them are parked, and until when it
--        is paused, 0 if it is not; behind what the next page begins, nothing at the end; then for each message a row, see row.lua,
--        and its state: delayed, parked or leased
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
