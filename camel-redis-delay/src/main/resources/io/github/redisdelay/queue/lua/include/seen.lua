-- Included where ids are remembered that were finished.
--
-- seen: sorted set of ids that were finished -> until when they count as duplicates; expires with the last of them

-- Returns until when an id is remembered; nil if it is not, or not any more.
local function seen_until(id, now)
  local score = tonumber(redis.call('ZSCORE', key_seen, id) or 0)
  return score > now and score or nil
end

-- Forgets ids that are no duplicates any more, at most 100 at a time.
local function seen_forget_some(now)
  local old = redis.call('ZRANGEBYSCORE', key_seen, '-inf', now, 'LIMIT', 0, 100)
  if #old > 0 then
    redis.call('ZREM', key_seen, unpack(old))
  end
end

-- Remembers ids, each behind the time until when, and forgets some.
local function seen_remember(now, remembered)
  redis.call('ZADD', key_seen, unpack(remembered))
  local last = math.min(redis.call('ZRANGE', key_seen, '-1', '-1', 'WITHSCORES')[2], CALL_MAX_EXACT)
  redis.call('EXPIRE', key_seen, string.format('%.0f', math.ceil((last - now) / 1000000)))
  seen_forget_some(now)
end
