-- Included where arguments and what a queue needs are checked, after call.lua.

-- Parses a whole number within bounds. Otherwise fails, naming the argument and, if there are several, its index.
local function check_integer(text, low, high, what, number)
  local n = tonumber(text)
  if not n or n % 1 ~= 0 or n < low or n > high then
    error('REDISDELAY argument: ' .. what .. (number or ''))
  end
  return n
end

-- The features that these scripts know, as they stand in `needs`.
local CHECK_SCHEDULES, CHECK_GROUPS, CHECK_LIMITS = 'schedules=0.1', 'groups=0.1', 'limits=0.1'

-- Refuses a queue that needs features which these scripts do not know, see queue.lua.
local function check_needs(needs)
  if needs and string.gsub(needs .. ' ', '(%S+) ', { ['schedules=0.1'] = '', ['groups=0.1'] = '', ['limits=0.1'] = '' }) ~= '' then
    error('REDISDELAY needs: ' .. needs)
  end
end
