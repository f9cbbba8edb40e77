-- Tells where the master is in its history, and writes something, so that WAIT behind it covers all that was written before.
-- What it writes is gone again when it ends.
--
-- WAIT waits for what its own connection has written last. Up to Redis 7.0 that is the end of the history at its last
-- command; since 7.2, and in Valkey, only commands count that were replicated. A call that is repeated on another
-- connection writes nothing, and WAIT alone would answer at once that all replicas have it.
--
-- KEYS  1 calls
-- ARGV  1 'look' to write nothing; anything else, or nothing, to write
-- Reply bytes: the section replication of INFO, as it was before this call; empty where the user may not ask
-- Cost  O(1)

local calls = KEYS[1]

local text = redis.pcall('INFO', 'replication')

if ARGV[1] == 'look' then
  return type(text) == 'string' and text or ''
end

-- The first write needs no memory, so that the others are not refused when there is none.
redis.call('HDEL', calls, '')
redis.call('HSET', calls, '', '')
redis.call('HDEL', calls, '')
return type(text) == 'string' and text or ''
