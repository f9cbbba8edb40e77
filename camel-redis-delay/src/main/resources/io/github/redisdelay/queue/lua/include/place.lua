-- Included where ids are looked for in the sets in which messages wait, or put there, after queue.lua.

-- Checks that a priority can be used by use_priority, which comes after the first write.
local function check_priority(priority)
  if priority > 0 then
    redis.call('ZCARD', delayed_set(priority))
  end
end

-- Claims look into the set of this priority from now on.
local function use_priority(priority)
  local at = 1
  while priorities[at] and priorities[at] > priority do
    at = at + 1
  end
  if priority > 0 and priorities[at] ~= priority then
    table.insert(priorities, at, priority)
    write_priorities()
  end
end

-- When a delayed message is due, as text, and its priority; nil if it is not delayed.
local function find_delayed(id)
  local score = redis.call('ZSCORE', delayed, id)
  if score then
    return score, 0
  end
  for i = 1, #priorities do
    score = redis.call('ZSCORE', delayed_set(priorities[i]), id)
    if score then
      return score, priorities[i]
    end
  end
end

-- Removes an id from whatever set of delayed ones it is in.
local function remove_delayed(id)
  redis.call('ZREM', delayed, id)
  for i = 1, #priorities do
    redis.call('ZREM', delayed_set(priorities[i]), id)
  end
end
