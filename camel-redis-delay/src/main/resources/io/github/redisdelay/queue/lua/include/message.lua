-- Included where messages are stored, after queue.lua, pause.lua and place.lua.

-- Returns what stands before the body of a stored message: struct '<dd' time of scheduling, and the time it was scheduled for. If
-- it has a group, the first time is negative, and a byte with the length of the group follows, and the group.
local function message_head(time, due, group)
  return struct.pack('<dd', group and -time or time, due) .. (group and struct.pack('B', #group) .. group or '')
end

-- Stores a message with a due time, in place of all that its id had but a place in another set. Returns the level of its set, which
-- `add` may choose, as group_add does; of 10 it is parked. Then pause_keep ends the call.
local function message_store(id, level, now, due, body, group, add)
  redis.call('HSET', key_messages, id, message_head(now, due, group) .. body)
  -- A record that eviction has left behind must not be about the new message: its claim id would finish that.
  redis.call('HDEL', key_state, id)
  level = add and add(group, id, due, level) or level
  place_use_priority(level % 10)
  redis.call('ZADD', queue_delayed_set(level), due, id)
  return level
end
