-- Reads a message. Changes nothing.
--
-- KEYS  messages, delayed, leased, state, config, consumers; priorities
-- ARGV  1 id
-- Reply  a list: nothing if there is none; else a row (see row.lua; the score is when the message is due, or its lease
--        expires), the message's state, the stored body, and struct '<d' until when its group is paused, 0 if it is not
-- Errors  config, needs, partitions
-- Cost  O(1), and the body

--@include call.lua
--@include clock.lua
--@include check.lua
--@include record.lua
--@include queue.lua
--@include place.lua
--@include member.lua
--@include row.lua

local id = ARGV[1]
queue_read_config()
local score, priority = place_find(id)
local lease = not score and redis.call('ZSCORE', key_leased, id)
local body = (score or lease) and redis.call('HGET', key_messages, id)
local reply = {}
if body then
  row_append(reply, id, tonumber(score or lease), priority or 0, lease)
  -- One that is parked before it is due is delayed for others.
  reply[#reply + 1] = lease and 'leased' or not priority and tonumber(score) <= clock_now and 'parked' or 'delayed'
  reply[#reply + 1] = body
  reply[#reply + 1] = struct.pack('<d', row_paused(queue_places and member_group(id)))
end
return reply
