-- Included where a pause is set or ended, or where messages come or go while it lasts, after queue.lua.

-- Lets the configuration of a queue that is paused, or was until now, expire, unless it is about messages: a pause lasts as
-- long as any is there. An empty queue needs nothing.
-- Called by what sets or ends a pause, may store a first message or remove the last one, and by claims.
local function pause_keep(resumed)
  local empty, limits = queue_needs and redis.call('HLEN', key_messages) == 0, queue_priorities.limits
  local unlimited = limits and limits.interval + limits.group_interval == 0 and not limits.places and limits.next <= clock_now
    and redis.call('EXISTS', queue_delayed_set(12) or key_config) == 0
  if empty or unlimited then
    limits = not unlimited and limits or nil
    local needs = string.gsub(queue_needs .. ' ', 'limits=0%.1 ', '')
    if empty then
      -- A group without messages may be paused: the gates are looked at as long as there are some.
      needs = limits and queue_places and redis.call('EXISTS', queue_delayed_set(12)) == 1 and 'groups=0.1 ' or ''
    end
    needs = string.gsub(needs .. (limits and 'limits=0.1' or ''), ' $', '')
    redis.call('HSET', key_config, 'needs', needs)
    redis.call('HDEL', key_config, needs == '' and 'needs' or '', unlimited and 'next' or '')
    -- What is left of a queue that was limited until now expires, unless it is about messages, too.
    queue_needs, resumed = needs ~= '' and needs or nil, resumed or unlimited
  end
  if empty then
    for _, i in ipairs(queue_places and { 10, 11, 13 } or {}) do
      redis.call('ZREMRANGEBYSCORE', queue_delayed_set(i), '-inf', '+inf')
    end
  end
  if (queue_paused or limits or resumed and (#queue_priorities > 0 or queue_needs)) and redis.call('HLEN', key_messages) > 0 then
    redis.call('PERSIST', key_config)
    redis.call('PERSIST', queue_delayed_set(12) or key_config)
  elseif queue_paused or limits or resumed or empty then
    redis.call('EXPIRE', key_config, CALL_IDLE_SECONDS)
    redis.call('EXPIRE', queue_delayed_set(12) or key_config, CALL_IDLE_SECONDS)
  end
end
