-- Included where messages change from one set to another, after session.lua. What is included is made anew with each call, so
-- what only some calls need is in place.lua and seen.lua.
--
-- KEYS  1 messages  2 delayed  3 leased  4 state  5 calls  6 config  7 seen  8 to 16 delayed:1 to delayed:9
--
-- config: hash; every field may be missing
--     format      the version of the layout (1)
--     priorities  the priorities above 0 in use, one digit each, the highest first
--     paused      1: no message is claimed
--     partitions  the number of partitions of the queue, if it is recorded (see partitions.lua). The keys of a partition do
--                 not have it: with more than 1, these keys are none of a partition
-- seen: sorted set of ids that were finished -> until when they count as duplicates
--
-- The set in which a delayed id waits is its priority: delayed for 0. A queue that uses none pays for none.

local messages, delayed, leased, state, calls, config, seen =
  KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7]

-- Read once for each call, before anything is written.
local priorities, paused

local function delayed_set(priority)
  if priority == 0 then
    return delayed
  end
  return KEYS[7 + priority]
end

-- Reads the configuration and checks the kinds of the keys that it leads to. Refuses the call if the
-- queue has several partitions, which have keys of their own; not if it finishes deliveries: it finds none.
local function read_config(finishes)
  local found = redis.call('HMGET', config, 'format', 'priorities', 'paused', 'partitions')
  check_format(found[1])
  local partitions = found[4]
  if partitions and partitions ~= '1' and not finishes then
    error('REDISDELAY partitions: ' .. partitions)
  end
  priorities, paused = {}, found[3] == '1'
  local digits = found[2]
  if not digits then
    return
  end
  if not string.find(digits, '^[1-9]*$') then
    error('REDISDELAY config: priorities')
  end
  for i = 1, #digits do
    priorities[i] = string.byte(digits, i) - 48
    if i > 1 and priorities[i] >= priorities[i - 1] then
      error('REDISDELAY config: priorities')
    end
    redis.call('ZCARD', delayed_set(priorities[i]))
  end
end

local function write_priorities()
  if #priorities == 0 then
    redis.call('HDEL', config, 'priorities')
  else
    redis.call('HSET', config, 'priorities', table.concat(priorities))
  end
end

-- When the first delayed message is due; nil if there is none.
local function first_due()
  local first = tonumber(redis.call('ZRANGE', delayed, '0', '0', 'WITHSCORES')[2])
  for i = 1, #priorities do
    local other = tonumber(redis.call('ZRANGE', delayed_set(priorities[i]), '0', '0', 'WITHSCORES')[2])
    if other and (not first or other < first) then
      first = other
    end
  end
  return first
end

-- Whether any id is remembered at all. Also checks the kind of the key.
local function any_seen()
  return redis.call('ZCARD', seen) > 0
end
