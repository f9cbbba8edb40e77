-- Reads which consumers were seen in the last day. Changes nothing.
--
-- KEYS  consumers (see heartbeat.lua)
-- Reply for each consumer, at most 10 000: its id (8 bytes); struct '<d' when it was last seen, then version, space and name
-- Errors  none
-- Cost  O(consumers)

--@include call.lua
--@include clock.lua

local oldest = clock_now - CALL_UNUSED_MICROS
local reply = {}
-- More than there are: all of them.
local found = redis.call('HRANDFIELD', key_consumers, 10000, 'WITHVALUES')
for i = 1, #found, 2 do
  local id, record = found[i], found[i + 1]
  local time = #id == 8 and #record >= 8 and struct.unpack('<d', record) or 0
  if time >= oldest and time <= CALL_MAX_EXACT then
    reply[#reply + 1], reply[#reply + 2] = id, record
  end
end
return reply
