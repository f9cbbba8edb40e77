-- Included where messages are stored, after queue.lua, pause.lua and place.lua.

-- Stores a message with a due time, in place of all that its id had but a place in another set. A message is stored as struct
-- '<dd' time of scheduling, and the time it was scheduled for; then its body.
local function message_store(id, level, now, due, body)
  redis.call('HSET', key_messages, id, struct.pack('<dd', now, due) .. body)
  -- A record that eviction has left behind must not be about the new message: its claim id would finish that.
  redis.call('HDEL', key_state, id)
  place_use_priority(level)
  redis.call('ZADD', queue_delayed_set(level), due, id)
  pause_keep()
end
