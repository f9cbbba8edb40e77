-- Included where ids are looked for in the sets in which messages wait, or put there, after queue.lua.

-- Writes which priorities are in use: without them their messages are not found, so that the configuration may not expire.
local function place_write_priorities()
  if #queue_priorities > 0 then
    redis.call('HSET', key_config, 'priorities', table.concat(queue_priorities))
    redis.call('PERSIST', key_config)
  else
    redis.call('HDEL', key_config, 'priorities')
    local _ = queue_needs or queue_paused or redis.call('EXPIRE', key_config, CALL_IDLE_SECONDS)
  end
end

-- Drops the priorities that no message waits with, so that they cost no further look.
local function place_drop_priorities()
  for i = #queue_priorities, 1, -1 do
    if redis.call('ZCARD', queue_delayed_set(queue_priorities[i])) == 0 then
      table.remove(queue_priorities, i)
      place_write_priorities()
    end
  end
end

-- Notes a priority, so that claims look into its set from now on.
local function place_use_priority(priority)
  local at = 1
  while queue_priorities[at] and queue_priorities[at] > priority do
    at = at + 1
  end
  if priority > 0 and queue_priorities[at] ~= priority then
    table.insert(queue_priorities, at, priority)
    place_write_priorities()
  end
end

-- Returns when a delayed message is due, as text, and its priority, nil of a parked one; nil if it is not delayed.
local function place_find(id)
  for i = 0, #queue_priorities + (queue_places and 1 or 0) do
    local score = redis.call('ZSCORE', queue_delayed_set(queue_priorities[i]), id)
    if score then
      return score, queue_priorities[i]
    end
  end
end

-- Removes an id from whatever set of delayed ones it is in.
local function place_remove(id)
  for i = 0, #queue_priorities + (queue_places and 1 or 0) do
    redis.call('ZREM', queue_delayed_set(queue_priorities[i]), id)
  end
end

-- Parses the words ' priority=5 limit=100 group=16' about a message, each of which may be missing: returns the priority; how many
-- messages the queue may hold, nil for any number; and how many bytes of its body are its group. Fails for anything else, naming
-- the message.
local function place_options(words, number)
  local level, behind = string.match(words, '^ priority=(%d)(.*)$')
  local rest = behind or words
  local limit, last = string.match(rest, '^ limit=(%d+)(.*)$')
  local group = string.match(last or rest, '^ group=(%d+)$')
  if #(last or rest) > 0 and not group then
    error('REDISDELAY argument: message ' .. number)
  end
  return tonumber(level) or 0, limit and check_integer(limit, 1, CALL_MAX_EXACT, 'limit of message ', number),
    group and check_integer(group, 1, level and 0 or 200, 'group of message ', number)
end
