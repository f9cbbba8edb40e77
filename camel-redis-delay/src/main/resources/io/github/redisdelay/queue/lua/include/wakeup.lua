-- Included where something may become due earlier than consumers know, after queue.lua: who is woken for it.
--
-- waiters: sorted set of the consumers that could take a message -> when each has promised to come, in microseconds
--     member: a name of the consumer's own without spaces, a space, the channel on which its client listens. A name that
--     begins with '~' belongs to a client for which the number of receivers that PUBLISH answers says nothing, as in a
--     cluster
--
-- The cover rule: one consumer has promised to come by the next event (a message is due, or a lease expires), and a second
-- one by 10 ms after it. Every claim, and every command that makes an earlier event, keeps the rule. If a promise is
-- missing, the command picks the consumer with the earliest other promise, writes its new promise, and wakes its client
-- only. All other consumers sleep for their safety interval. So the price of an event does not depend on the number of
-- consumers, and if the first consumer has died, the second one comes.
-- Only how soon a message is taken depends on this set: each consumer claims once in a safety interval anyway.

local wakeup_waiters = key_waiters
local WAKEUP_BACKUP_MICROS = 10000
-- A consumer that is later than this counts as dead until its next claim.
local WAKEUP_OVERDUE_MICROS = 25000
-- All consumers claim within this time, unless there are many.
local WAKEUP_FAR_MICROS = 30000000
-- If nobody hears a wake-up, so many others are tried in one call.
local WAKEUP_MOST_DEAD = 64
-- With more waiters than this a consumer's safety interval grows in proportion, up to so many times: some consumer still
-- claims every few seconds.
local WAKEUP_MANY, WAKEUP_LONGEST = 10, 3

-- Returns consumers with their promises, alternating, the earliest first, from a position on; without the overdue ones.
local function wakeup_promises(waiters, now, from, count)
  return redis.call('ZRANGEBYSCORE', waiters, now - WAKEUP_OVERDUE_MICROS, '+inf', 'WITHSCORES', 'LIMIT', from, count)
end

-- Wakes a consumer's client: something will be due in so many microseconds. Returns whether that may have been heard.
-- message: wait in microseconds, space, the queue's base key
local function wakeup_send(member, base, micros)
  local name, channel = string.match(member, '^(%S+) (.+)$')
  if not name then
    return false
  end
  local heard = redis.call('PUBLISH', channel, string.format('%.0f', math.max(0, micros)) .. ' ' .. base)
  return heard > 0 or string.byte(name) == 126
end

-- Returns the first two promises that count for an event, without a consumer's own. The first three of all may be known.
-- A consumer whose promise is only its safety interval may be dead, so it does not count as cover. Exception: if the event
-- is further away than one safety interval, every live consumer will have renewed its promise by then.
local function wakeup_counted(waiters, event, now, member, first_three)
  local times = {}
  local function add(found)
    for i = 1, #found, 2 do
      if found[i] ~= member and #times < 2 then
        times[#times + 1] = tonumber(found[i + 1])
      end
    end
  end
  local wait = event - now
  if wait <= 2 * WAKEUP_OVERDUE_MICROS or wait > WAKEUP_FAR_MICROS then
    add(first_three or wakeup_promises(waiters, now, 0, 3))
  else
    add(redis.call('ZRANGEBYSCORE', waiters, now - WAKEUP_OVERDUE_MICROS, now + WAKEUP_OVERDUE_MICROS,
      'WITHSCORES', 'LIMIT', 0, 3))
    if #times < 2 then
      add(wakeup_promises(waiters, event, 0, 3))
    end
  end
  return times
end

-- Wakes consumers for the missing promises of an event that comes before all others. Returns the new promises for
-- wakeup_write, which comes after the first write. A wake-up is heard only after the command has ended.
local function wakeup_cover(waiters, base, event, now)
  event = math.max(event, now)
  local times = wakeup_counted(waiters, event, now)
  local first, second = times[1], times[2]
  local missing = {}
  if not first or first > event then
    missing[1] = event
    second = first
  end
  if not second or second > event + WAKEUP_BACKUP_MICROS then
    missing[#missing + 1] = event + WAKEUP_BACKUP_MICROS
  end
  local promises = {}
  local m, from, count = 1, 0, 2
  while missing[m] and from <= WAKEUP_MOST_DEAD do
    local found = wakeup_promises(waiters, now, from, count)
    for i = 1, #found, 2 do
      local at = tonumber(found[i + 1])
      local early = at > now + WAKEUP_OVERDUE_MICROS and at < event - WAKEUP_OVERDUE_MICROS
        and event - now <= WAKEUP_FAR_MICROS
      if missing[m] and (early or at > event + WAKEUP_BACKUP_MICROS) then
        local heard = wakeup_send(found[i], base, missing[m] - now)
        -- The promise of a dead consumer must not count: it becomes overdue.
        promises[#promises + 1] = heard and missing[m] or 0
        promises[#promises + 1] = found[i]
        m = heard and m + 1 or m
      end
    end
    from, count = #found > 0 and from + count or math.huge, 16
  end
  return promises
end

-- The same for what a command makes due. Wakes nobody if something is due before it, unless that has waited for so long that
-- those who promised to come for it must have died.
local function wakeup_cover_earlier(base, event, now)
  if not queue_paused then
    local first = queue_first_due()
    if not first or event < first or first < now - WAKEUP_OVERDUE_MICROS then
      return wakeup_cover(wakeup_waiters, base, math.min(event, first or event), now)
    end
  end
end

local function wakeup_write(waiters, promises)
  if promises and #promises > 0 then
    redis.call('ZADD', waiters, 'XX', unpack(promises))
  end
end

-- The promise of a consumer after its claim: not to come before its safety interval is over, to come by the event, to come
-- 10 ms after it, or nothing, as it is no waiter.
local WAKEUP_NONE, WAKEUP_FIRST, WAKEUP_BACKUP, WAKEUP_LEFT = 0, 1, 2, 3

-- Writes what a consumer promises after its claim, and keeps the rule for all. Returns the consumer's duty and its safety
-- interval. A consumer that got nothing, or whose work is short, takes the next event itself. Otherwise waiting consumers
-- go first.
local function wakeup_promise(base, member, intent, wanted, given, event, safety_interval, now)
  if #member == 0 then
    return WAKEUP_LEFT, safety_interval
  end
  -- The claim has removed the overdue ones.
  local others, found = {}, redis.call('ZRANGE', wakeup_waiters, '0', '2', 'WITHSCORES')
  for i = 1, #found, 2 do
    if found[i] ~= member then
      others[#others + 1] = tonumber(found[i + 1])
    end
  end
  if wanted == 0 or intent == 'leave' or (intent == 'fill' and given == wanted) then
    redis.call('ZREM', wakeup_waiters, member)
    wakeup_write(wakeup_waiters, event and wakeup_cover(wakeup_waiters, base, event, now))
    return WAKEUP_LEFT, safety_interval
  end
  local duty, mine = WAKEUP_NONE, math.huge
  local more_due = event and event <= now
  -- Nobody else could come: it does, as soon as it can.
  local alone = not others[1]
  local p1, p2
  if event then
    event = math.max(event, now)
    local times = wakeup_counted(wakeup_waiters, event, now, member, found)
    p1, p2 = times[1] or math.huge, times[2] or math.huge
    local itself = given == 0 or intent == 'quick'
    if more_due or alone or (itself and p1 > event) then
      duty, mine = WAKEUP_FIRST, event
    elseif not others[2] or (itself and p2 > event + WAKEUP_BACKUP_MICROS) then
      duty, mine = WAKEUP_BACKUP, event + WAKEUP_BACKUP_MICROS
    end
  end
  if duty == WAKEUP_NONE and others[2] then
    local times = redis.call('ZCARD', wakeup_waiters) / WAKEUP_MANY
    safety_interval = math.floor(safety_interval * math.max(1, math.min(times, WAKEUP_LONGEST)))
  end
  mine = math.min(mine, now + safety_interval)
  redis.call('ZADD', wakeup_waiters, mine, member)
  if more_due then
    -- More is due than the claim gave: as long as that is so, every claim wakes one more consumer, for 10 ms later.
    local next = redis.call('ZRANGEBYSCORE', wakeup_waiters, now + 1, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
    if next[1] and tonumber(next[2]) > now + WAKEUP_BACKUP_MICROS then
      local heard = wakeup_send(next[1], base, WAKEUP_BACKUP_MICROS)
      redis.call('ZADD', wakeup_waiters, heard and now + WAKEUP_BACKUP_MICROS or 0, next[1])
    end
  elseif event and not alone
      and (math.min(mine, p1) > event or (mine <= p1 and p1 or math.min(mine, p2)) > event + WAKEUP_BACKUP_MICROS) then
    wakeup_write(wakeup_waiters, wakeup_cover(wakeup_waiters, base, event, now))
  end
  if given == 0 or alone then
    redis.call('EXPIRE', wakeup_waiters, CALL_UNUSED_SECONDS)
  end
  return duty, safety_interval
end
