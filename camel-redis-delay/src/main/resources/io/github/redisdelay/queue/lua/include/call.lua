-- Included before the other includes: what calls share, their arguments, the clock and the format of the keys.

-- The largest integer that a double, and so a score, holds exactly.
local CALL_MAX_EXACT = 9007199254740991

-- Entries of clients and consumers that nobody used for this long are dropped, and their key expires after twice that.
local CALL_UNUSED_MICROS = 86400 * 1000000
local CALL_UNUSED_SECONDS = 2 * 86400

-- Parses a whole number within bounds. Otherwise fails, naming the argument and, if there are several, its index.
local function call_integer(text, low, high, what, number)
  local n = tonumber(text)
  if not n or n % 1 ~= 0 or n < low or n > high then
    error('REDISDELAY argument: ' .. what .. (number or ''))
  end
  return n
end

-- Counts the items of a call: the arguments behind the first few, some for each item. Fails unless there are 1 to 256.
local function call_items(head, width, what)
  local count = (#ARGV - head) / width
  if count < 1 or count > 256 or count % 1 ~= 0 then
    error('REDISDELAY argument: number of ' .. what)
  end
  return count
end

-- The server's clock in whole microseconds since the epoch. A call reads it once.
local function call_time()
  local t = redis.call('TIME')
  return tonumber(t[1]) * 1000000 + tonumber(t[2])
end

-- Refuses a queue whose data is of a later format. A missing version means 1.
local function call_check_format(version)
  if version and version ~= '1' then
    error('REDISDELAY format: this queue has format ' .. version .. ', this client knows format 1')
  end
end
