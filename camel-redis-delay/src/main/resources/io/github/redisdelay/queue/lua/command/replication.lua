-- Compares the history that the master has with those that callers name, and writes something, so that WAIT behind it covers
-- all that was written before. Its writes are gone again when it ends, so a call may be repeated.
--
-- WAIT waits for what its own connection has written last. Up to Redis 7.0 that is the end of the history at its last
-- command; since 7.2, and in Valkey, only commands count that were replicated. A call that is repeated on another
-- connection writes nothing, and WAIT alone would answer at once that all replicas have it.
--
-- KEYS  sessions
-- ARGV  none
--       or, of which none is used: 1 session  2 sequence  3 base key; then for each request, at most 256: the id of the
--       history that the master must have, or nothing where each will do
-- Reply bytes; without arguments the id of the history: master_replid of INFO, empty where the user may not ask
--       else struct 'd' 0; then for each request 'Bd' 1 the master has this history, 0 it has another one or does not tell; 0
-- Errors  none
-- Cost  O(requests)

local text = redis.pcall('INFO', 'replication')
local history = type(text) == 'string' and string.match(text, 'master_replid:(%w+)') or ''

-- The first write needs no memory, so that the others are not refused when there is none.
redis.call('HDEL', key_sessions, '')
redis.call('HSET', key_sessions, '', '')
redis.call('HDEL', key_sessions, '')
if #ARGV == 0 then
  return history
end
local answers, count = { 0 }, #ARGV - 3
for i = 1, count do
  local wanted = ARGV[3 + i]
  answers[2 * i], answers[2 * i + 1] = (wanted == '' or wanted == history) and 1 or 0, 0
end
return struct.pack('<d' .. string.rep('Bd', count), unpack(answers))
