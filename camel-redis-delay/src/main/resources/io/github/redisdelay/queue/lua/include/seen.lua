-- Included where ids are remembered that were finished.
--
-- KEYS  7 seen
--
-- seen: sorted set of ids that were finished -> until when they count as duplicates

local seen_key = KEYS[7]

-- Tells whether any id is remembered at all.
local function seen_any()
  return redis.call('ZCARD', seen_key) > 0
end

-- Returns until when an id is remembered; nil if it is not, or not any more.
local function seen_until(id, now)
  local score = tonumber(redis.call('ZSCORE', seen_key, id) or 0)
  return score > now and score or nil
end

-- Forgets ids that are no duplicates any more, at most 100 at a time.
local function seen_forget_some(now)
  local old = redis.call('ZRANGEBYSCORE', seen_key, '-inf', now, 'LIMIT', 0, 100)
  if #old > 0 then
    redis.call('ZREM', seen_key, unpack(old))
  end
end
