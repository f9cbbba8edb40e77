-- Looks at a message. Changes nothing.
--
-- KEYS  1 to 16 see queue.lua  17 consumers
-- ARGV  1 id
-- Reply  a list: nothing if there is none, else what row.lua tells (the score is the due time, or the end of the lease), d
--        delayed or l leased, the stored body
-- Cost  O(1), and the body

--@include session.lua
--@include record.lua
--@include queue.lua
--@include place.lua
--@include row.lua

local id = ARGV[1]
read_config()
local score, priority = find_delayed(id)
local lease = not score and redis.call('ZSCORE', leased, id)
local body = (score or lease) and redis.call('HGET', messages, id)
local reply = {}
if body then
  tell(reply, id, tonumber(score or lease), priority or 0, lease)
  reply[#reply + 1] = lease and 'l' or 'd'
  reply[#reply + 1] = body
end
return reply
