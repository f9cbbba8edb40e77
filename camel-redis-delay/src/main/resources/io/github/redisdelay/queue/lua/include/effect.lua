-- Included in every command that changes messages, after session.lua: how the effect of a call begins and ends.
--
-- The preflight comes with a session's first call and with its first one in each hour. It checks the kinds of the keys and
-- the user's permissions (ACL) before anything is changed. Whatever is taken away between two preflights can end a call in
-- its middle. So commands write in such an order that each message can be found then: first to where it goes, then away from
-- where it was; and a body goes before the entry that leads to it.

-- Begins the effect of a call that is no repeat: does the preflight, if it is due.
-- needs_memory: the first write may be refused when the server's memory is full
local function effect_begin(needs_memory)
  if not session_preflight_due then
    return
  end
  for i = 1, math.min(#KEY_KINDS, #KEYS) do
    local kind = string.sub(KEY_KINDS, i, i)
    if kind == 'h' then
      redis.call('HLEN', KEYS[i])
    elseif kind == 'z' then
      redis.call('ZCARD', KEYS[i])
    end
  end
  -- The later writes of commands are tried on nothing: no message has this id.
  local nobody = '\0' .. ARGV[1]
  redis.call('ZRANGE', key_leased, 0, 0)
  redis.call('ZRANGEBYSCORE', key_leased, 0, 0, 'LIMIT', 0, 1)
  redis.call('HEXISTS', key_sessions, '')
  redis.call('HRANDFIELD', key_sessions, 1)
  if not needs_memory then
    redis.call('ZREM', key_leased, nobody)
  end
  redis.call('ZADD', key_leased, 'XX', '0', nobody)
  redis.call('ZREM', key_leased, nobody)
  redis.call('PERSIST', key_sessions)
  redis.call('EXPIRE', key_sessions, CALL_UNUSED_SECONDS)
  redis.call('HDEL', key_sessions, '')
  redis.call('HSET', key_sessions, '', '')
  redis.call('HDEL', key_sessions, '')
end

-- Ends a call: stores its result, and more behind that. Not a first write, as it needs memory. With a preflight, also drops
-- up to three records of clients that are long gone.
local function effect_end(result, more)
  if session_preflight_due then
    local candidates = redis.call('HRANDFIELD', key_sessions, 3)
    for i = 1, #candidates do
      local record = redis.call('HGET', key_sessions, candidates[i])
      -- A record that is too short is not ours, and to fail here would be too late.
      if #record < 16 or select(2, struct.unpack('<dd', record)) < clock_now - CALL_UNUSED_MICROS then
        redis.call('HDEL', key_sessions, candidates[i])
      end
    end
  end
  redis.call('HSET', key_sessions, ARGV[1], struct.pack('<dd', session_sequence, clock_now) .. result .. (more or ''))
  local _ = session_preflight_due and redis.call('EXPIRE', key_sessions, CALL_UNUSED_SECONDS)
  return result
end
