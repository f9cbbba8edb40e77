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
local reply, body = {}, redis.call('HGET', key_messages, id)
if body and row_append_found(reply, id) then
  reply[#reply + 1] = body
  reply[#reply + 1] = struct.pack('<d', row_paused(queue_places and member_group(id)))
end
return reply
