-- Included on top of change.lua: cancels delayed messages for half of the time or less, if nothing about their queue is special and
-- the call does nothing else. It cancels all of them, or leaves all as it is: then the rest of change.lua does what is asked for.
--
-- It stands before the other includes, because to make their functions takes as long as all that it does.

if items_columns[2][1] == 'cancel' and not (session_stored or session_preflight_due)
    and redis.call('EXISTS', key_config, key_seen, key_index, KEYS[KEY_PRIORITIES + 11] or key_config) == 0 then
  local ids, met, all = items_columns[1], {}, true
  local due = redis.call('ZMSCORE', key_delayed, unpack(ids))
  for i = 1, #ids do
    all = all and due[i] and items_columns[2][i] == 'cancel' and not met[ids[i]]
    met[ids[i]] = true
  end
  if all then
    redis.call('HDEL', key_messages, unpack(ids))
    redis.call('HDEL', key_state, unpack(ids))
    redis.call('ZREM', key_delayed, unpack(ids))
    redis.call('ZREM', key_leased, unpack(ids))
    local result = struct.pack('<d', clock_now) .. string.rep(struct.pack('<Bd', 1, 0), #ids)
    redis.call('HSET', key_sessions, ARGV[1], struct.pack('<dd', session_sequence, clock_now) .. result)
    return result
  end
end
