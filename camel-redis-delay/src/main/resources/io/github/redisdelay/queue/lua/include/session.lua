-- Included in every command that changes messages, after call.lua: a call has one effect, however often it is sent.
--
-- KEYS  3 leased  5 sessions
-- ARGV  1 session  2 sequence
--
-- A client numbers the calls of each of its sessions. It has one call of a session under way, and sends that again, with the
-- same arguments, until it is answered. The hash `sessions` holds the last call of each session that was executed:
--     equal sequence   this is a repeat: it gets the stored result and changes nothing
--     lower sequence   this is a copy that was held up in the network: it is refused
--     higher sequence  this is a new call: it is executed, and its result is stored in the same script
--
-- sessions: session (bytes) -> struct '<dd' sequence, time in microseconds; then the result (bytes)
--
-- The preflight comes with a session's first call and with its first one in each hour. It checks the kinds of the keys and
-- the user's permissions (ACL) before anything is changed. Whatever is taken away between two preflights can end a call in
-- its middle. So commands write in such an order that each message can be found then: first to where it goes, then away from
-- where it was; and a body goes before the entry that leads to it.

local session_key = KEYS[5]
-- The findings of session_begin.
local session_sequence, session_preflight_due

-- Begins a call: returns its time and, if it is a repeat, the stored result. Otherwise does the preflight, if it is due.
-- kinds, more_kinds: the kind of each of KEYS, a letter each: h hash, z sorted set
-- needs_memory: the first write may be refused when the server's memory is full
local function session_begin(kinds, more_kinds, needs_memory)
  session_sequence = call_integer(ARGV[2], 1, CALL_MAX_EXACT, 'sequence')
  local now = call_time()
  local record = redis.call('HGET', session_key, ARGV[1])
  session_preflight_due = true
  if record and #record >= 16 then
    local last, time = struct.unpack('<dd', record)
    -- A record that no script wrote is none: it must not stop the session for good.
    if last >= 1 and last <= CALL_MAX_EXACT then
      if session_sequence < last then
        error('REDISDELAY superseded: a later call of this session was executed')
      end
      if session_sequence == last then
        return now, string.sub(record, 17)
      end
      local hour = 3600 * 1000000
      session_preflight_due = math.floor(time / hour) ~= math.floor(now / hour)
    end
  end
  if session_preflight_due then
    kinds = kinds .. more_kinds
    for i = 1, math.min(#kinds, #KEYS) do
      if string.byte(kinds, i) == 104 then
        redis.call('HLEN', KEYS[i])
      else
        redis.call('ZCARD', KEYS[i])
      end
    end
    -- The later writes of commands are tried on nothing: no message has this id.
    local leased, nobody = KEYS[3], '\0' .. ARGV[1]
    redis.call('ZRANGE', leased, 0, 0)
    redis.call('ZRANGEBYSCORE', leased, 0, 0, 'LIMIT', 0, 1)
    redis.call('HEXISTS', session_key, '')
    redis.call('HRANDFIELD', session_key, 1)
    if not needs_memory then
      redis.call('ZREM', leased, nobody)
    end
    redis.call('ZADD', leased, 'XX', '0', nobody)
    redis.call('ZREM', leased, nobody)
    redis.call('EXPIRE', session_key, CALL_UNUSED_SECONDS)
    redis.call('HDEL', session_key, '')
    redis.call('HSET', session_key, '', '')
    redis.call('HDEL', session_key, '')
  end
  return now
end

-- Ends a call: stores its result, and more behind that. Not a first write, as it needs memory. With a preflight, also drops
-- up to three records of clients that are long gone.
local function session_end(now, result, more)
  if session_preflight_due then
    local candidates = redis.call('HRANDFIELD', session_key, 3)
    for i = 1, #candidates do
      local record = redis.call('HGET', session_key, candidates[i])
      -- A record that is too short is not ours, and to fail here would be too late.
      if #record < 16 or select(2, struct.unpack('<dd', record)) < now - CALL_UNUSED_MICROS then
        redis.call('HDEL', session_key, candidates[i])
      end
    end
  end
  redis.call('HSET', session_key, ARGV[1], struct.pack('<dd', session_sequence, now) .. result .. (more or ''))
  if session_preflight_due then
    redis.call('EXPIRE', session_key, CALL_UNUSED_SECONDS)
  end
  return result
end
