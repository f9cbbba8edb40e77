-- Included at the top of every script that changes something: one effect for each request, however often it is sent.
--
-- The client numbers the calls of each lane, has one call of a lane outstanding and repeats it, with the same
-- arguments, until it is answered. The hash `calls` holds for each client and lane the sequence number of the last call
-- that was executed, when that was, and its result:
--     equal sequence   this is a repeat: answer the stored result, change nothing
--     lower sequence   a copy that was held up in the network: refuse it
--     higher sequence  execute, and store the result in the same script
--
-- calls: lane (bytes) -> struct '<dd' sequence, time in microseconds; then the result (bytes)

-- Records that nobody used for this long are dropped, a few with each lane's first call in an hour, and the key expires
-- after twice that.
local UNUSED_MICROS = 86400 * 1000000
local UNUSED_SECONDS = 2 * 86400
local HOUR = 3600 * 1000000

-- The largest integer that a double, and so a score, holds exactly.
local MAX_EXACT = 9007199254740991

-- A whole number within bounds, or an error that says of what, and of the how manieth one (number) if there are more.
-- Called before anything is written.
local function integer(text, low, high, what, number)
  local n = tonumber(text)
  if not n or n % 1 ~= 0 or n < low or n > high then
    error('REDISDELAY argument: ' .. what .. (number or ''))
  end
  return n
end

-- The server's clock in whole microseconds since the epoch. Read once for each call.
local function server_time()
  local t = redis.call('TIME')
  return tonumber(t[1]) * 1000000 + tonumber(t[2])
end

-- The stored result if this call is a repeat, or nil if it is to be executed; and whether this is the lane's first call,
-- or its first one in this hour: then what is to be done now and then is done. A record that no script wrote is none: it
-- must not stop the lane for good.
local function repeated(calls, lane, sequence, now)
  local record = redis.call('HGET', calls, lane)
  if not record or #record < 16 then
    return nil, true
  end
  local last, time = struct.unpack('<dd', record)
  if not (last >= 1 and last <= MAX_EXACT) then
    return nil, true
  end
  if sequence > last then
    return nil, math.floor(time / HOUR) ~= math.floor(now / HOUR)
  end
  if sequence < last then
    error('REDISDELAY superseded: a later call of this lane was executed')
  end
  return string.sub(record, 17), false
end

-- Stores the result of this call; with a lane's first call (see repeated), drops up to three records of clients that are
-- long gone. Not a first write: what it needs of memory must not be refused (see the scripts).
local function remember(calls, lane, sequence, now, result, first)
  if first then
    local candidates = redis.call('HRANDFIELD', calls, 3)
    for i = 1, #candidates do
      local record = redis.call('HGET', calls, candidates[i])
      -- One that is too short is not ours; to fail here would be too late.
      if #record < 16 or select(2, struct.unpack('<dd', record)) < now - UNUSED_MICROS then
        redis.call('HDEL', calls, candidates[i])
      end
    end
  end
  redis.call('HSET', calls, lane, struct.pack('<dd', sequence, now) .. result)
  if first then
    redis.call('EXPIRE', calls, UNUSED_SECONDS)
  end
end

-- Asks for what the script will need before it changes anything: a user who may not do it (see ACL) is told now, when
-- nothing is half done. Only with a lane's first call (see repeated). Not a first write either.
local function rehearse(calls, leased, first)
  if first then
    redis.call('ZADD', leased, 'XX', '0', '')
    redis.call('EXPIRE', calls, UNUSED_SECONDS)
    redis.call('ZREM', leased, '')
    redis.call('ZRANGE', leased, 0, 0)
    redis.call('ZCARD', leased)
    redis.call('ZRANGEBYSCORE', leased, 0, 0, 'LIMIT', 0, 1)
    redis.call('HEXISTS', calls, '')
    redis.call('HRANDFIELD', calls, 1)
    redis.call('HDEL', calls, '')
    redis.call('HSET', calls, '', '')
    redis.call('HDEL', calls, '')
  end
end

-- Refuses a queue whose data is of a later format. No version means this one.
local function check_format(version)
  if version and version ~= '1' then
    error('REDISDELAY format: this queue has format ' .. version .. ', this client knows format 1')
  end
end
