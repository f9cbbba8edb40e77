-- Reads everything that a queue holds, at one moment. For tests.
--
-- KEYS  hashes and sorted sets
-- Reply  for each key the number of values, then its values: names and values of a hash, members and scores of a set
-- Cost  O(N)

local reply = {}
for i = 1, #KEYS do
  local values
  if redis.call('TYPE', KEYS[i]).ok == 'zset' then
    values = redis.call('ZRANGE', KEYS[i], 0, -1, 'WITHSCORES')
  else
    values = redis.call('HGETALL', KEYS[i])
  end
  reply[#reply + 1] = string.format('%.0f', #values)
  for j = 1, #values do
    reply[#reply + 1] = values[j]
  end
end
return reply
