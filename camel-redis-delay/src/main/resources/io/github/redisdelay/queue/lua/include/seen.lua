-- Included where ids are remembered that were finished, after queue.lua.

-- Until when an id is remembered; nil if it is not, or not any more.
local function remembered_until(id, now)
  local score = tonumber(redis.call('ZSCORE', seen, id) or 0)
  return score > now and score or nil
end

-- Forgets ids that are no duplicates any more, a few at a time.
local function forget_some(now)
  local old = redis.call('ZRANGEBYSCORE', seen, '-inf', now, 'LIMIT', 0, 100)
  if #old > 0 then
    redis.call('ZREM', seen, unpack(old))
  end
end
