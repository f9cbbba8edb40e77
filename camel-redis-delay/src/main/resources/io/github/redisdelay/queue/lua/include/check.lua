-- Included where arguments and formats are checked, after call.lua.

-- Parses a whole number within bounds. Otherwise fails, naming the argument and, if there are several, its index.
local function check_integer(text, low, high, what, number)
  local n = tonumber(text)
  if not n or n % 1 ~= 0 or n < low or n > high then
    error('REDISDELAY argument: ' .. what .. (number or ''))
  end
  return n
end

-- Refuses a queue whose data is of a later format. A missing version means 1.
local function check_format(version)
  if version and version ~= '1' then
    error('REDISDELAY format: this queue has format ' .. version .. ', this client knows format 1')
  end
end
