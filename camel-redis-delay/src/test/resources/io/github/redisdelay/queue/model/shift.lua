-- Lets time pass for a queue: moves all that it waits for into the past. For tests.
--
-- KEYS  sorted sets; hashes of messages, of state records, of gates, and of the configuration
-- ARGV  1 by how many microseconds
-- Reply  1
-- Cost  O(N log N)

local function earlier(time)
  return math.max(0, time - ARGV[1])
end

-- Replaces the doubles from the first position on, before the second one.
local function shift_within(key, from, to)
  local all = redis.call('HGETALL', key)
  for i = 1, #all, 2 do
    local value = all[i + 1]
    if #value >= to - 1 then
      local shifted = string.sub(value, 1, from - 1)
      for at = from, to - 1, 8 do
        shifted = shifted .. struct.pack('<d', earlier(struct.unpack('<d', value, at)))
      end
      redis.call('HSET', key, all[i], shifted .. string.sub(value, to))
    end
  end
end

for i = 1, #KEYS do
  if string.find(KEYS[i], 'messages$') then
    shift_within(KEYS[i], 9, 17)
  elseif string.find(KEYS[i], 'state$') then
    shift_within(KEYS[i], 25, 41)
  elseif string.find(KEYS[i], 'config$') then
    for _, field in ipairs({ 'next', 'freed' }) do
      local at = redis.call('HGET', KEYS[i], field)
      if at then
        redis.call('HSET', KEYS[i], field, string.format('%.0f', earlier(at)))
      end
    end
  elseif string.find(KEYS[i], 'gates$') then
    shift_within(KEYS[i], 1, 25)
  elseif string.find(KEYS[i], 'groups$') then
    -- The times are in the members, but of those that keep their places.
    local members = redis.call('ZRANGE', KEYS[i], 0, -1)
    for j = 1, #members do
      local group, kind, rest = string.match(members[j], '^([^%z]+)%z(.)(.*)$')
      local due = struct.unpack('>d', rest)
      if due % 1 == 0 then
        redis.call('ZREM', KEYS[i], members[j])
        redis.call('ZADD', KEYS[i], 0, group .. '\0' .. kind .. struct.pack('>d', earlier(due)) .. string.sub(rest, 9))
      end
    end
  else
    local values = redis.call('ZRANGE', KEYS[i], 0, -1, 'WITHSCORES')
    for j = 1, #values, 2 do
      redis.call('ZADD', KEYS[i], string.format('%.0f', earlier(values[j + 1])), values[j])
    end
  end
end
return 1
