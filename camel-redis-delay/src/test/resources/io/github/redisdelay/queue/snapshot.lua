-- Reads everything that a queue holds, at one moment. For tests.
--
-- KEYS  1 messages  2 delayed  3 leased  4 state  5 calls  6 dead messages  7 dead delayed  8 dead leased  9 dead state
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
