-- Included in every command that changes messages, after call.lua and clock.lua: a call has one effect, however often it is
-- sent. effect.lua has the rest.
--
-- ARGV  1 session  2 sequence
--
-- A client numbers the calls of each of its sessions. It has one call of a session under way, and sends that again, with the
-- same arguments, until it is answered. The hash `sessions` holds the last call of each session that was executed:
--     equal sequence   this is a repeat: it gets the stored result and changes nothing
--     lower sequence   this is a copy that was held up in the network: it is refused
--     higher sequence  this is a new call: it is executed, and its result is stored in the same script
--
-- sessions: session (bytes) -> struct '<dd' sequence, time in microseconds; then the result (bytes)

local session_sequence = tonumber(ARGV[2])
if not session_sequence or session_sequence % 1 ~= 0 or session_sequence < 1 or session_sequence > CALL_MAX_EXACT then
  error('REDISDELAY argument: sequence')
end
-- The stored result, if this call is a repeat; and whether it is the session's first one, or its first one in this hour.
local session_stored, session_preflight_due = nil, true
local session_record = redis.call('HGET', key_sessions, ARGV[1])
if session_record and #session_record >= 16 then
  local last, time = struct.unpack('<dd', session_record)
  -- A record that no script wrote is none: it must not stop the session for good.
  if last >= 1 and last <= CALL_MAX_EXACT then
    if session_sequence < last then
      error('REDISDELAY superseded: a later call of this session was executed')
    end
    if session_sequence == last then
      session_stored = string.sub(session_record, 17)
    end
    session_preflight_due = math.floor(time / 3.6e9) ~= math.floor(clock_now / 3.6e9)
  end
end
