-- Tells which history the master has, and writes something, so that WAIT behind it covers all that was written before.
-- Its writes are gone again when it ends.
--
-- WAIT waits for what its own connection has written last. Up to Redis 7.0 that is the end of the history at its last
-- command; since 7.2, and in Valkey, only commands count that were replicated. A call that is repeated on another
-- connection writes nothing, and WAIT alone would answer at once that all replicas have it.
--
-- KEYS  1 sessions
-- ARGV  none
-- Reply bytes: the id of the history, master_replid of INFO; empty where the user may not ask
-- Errors  none
-- Cost  O(1)

local sessions = KEYS[1]

local text = redis.pcall('INFO', 'replication')

-- The first write needs no memory, so that the others are not refused when there is none.
redis.call('HDEL', sessions, '')
redis.call('HSET', sessions, '', '')
redis.call('HDEL', sessions, '')
return type(text) == 'string' and string.match(text, 'master_replid:(%w+)') or ''
