-- Lets time pass for a queue: moves all that it waits for into the past. For tests.
--
-- KEYS  sorted sets
-- ARGV  1 by how many microseconds
-- Reply  1
-- Cost  O(N log N)

for i = 1, #KEYS do
  local values = redis.call('ZRANGE', KEYS[i], 0, -1, 'WITHSCORES')
  for j = 1, #values, 2 do
    redis.call('ZADD', KEYS[i], string.format('%.0f', math.max(0, values[j + 1] - ARGV[1])), values[j])
  end
end
return 1
