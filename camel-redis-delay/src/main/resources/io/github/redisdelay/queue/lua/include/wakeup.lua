-- Included where something may become due earlier than consumers know, after queue.lua: the waiting room.
--
-- KEYS  17 waiting
--
-- waiting: sorted set of the consumers that could take a message -> when each has promised to come, in microseconds
--     member: a name of the consumer's own without spaces, a space, the channel on which its client listens. A name that
--     begins with '~' belongs to a client for which the number of receivers that PUBLISH answers says nothing, as in a
--     cluster
--
-- The cover rule: one consumer has promised to come by the next event (a message is due, or a lease ends), and a second
-- one by 10 ms after it. Whatever makes an earlier event, and every claim, keeps it: who is missing is taken from those
-- who would come next, is given its promise here, and is woken, it alone. All others sleep for their safety interval. So
-- the price of an event does not depend on the number of consumers, and when the first one has died the second one comes.
-- Nothing depends on this set but how soon a message is taken: each consumer looks once in a safety interval anyway.

local waiting = KEYS[17]
local SECOND = 10000
-- Who is later than this is taken to be dead, until its next claim.
local OVERDUE = 25000
-- All look again within this time, unless there are many.
local FAR = 30000000
-- Of so many whose clients have died, others are called instead in one call.
local DEAD_AT_ONCE = 64

-- Consumers with their promises, alternating, the earliest first, from a position on; the overdue ones are left out.
local function promises(room, now, from, count)
  return redis.call('ZRANGEBYSCORE', room, now - OVERDUE, '+inf', 'WITHSCORES', 'LIMIT', from, count)
end

-- Wakes a consumer's client: something will be due in so many microseconds. Whether that may have been heard.
-- message: wait in microseconds, space, the queue's base key
local function call_consumer(member, queue, micros)
  local name, channel = string.match(member, '^(%S+) (.+)$')
  if not name then
    return false
  end
  local heard = redis.call('PUBLISH', channel, string.format('%.0f', math.max(0, micros)) .. ' ' .. queue)
  return heard > 0 or string.byte(name) == 126
end

-- The first two promises that count for an event, without a consumer's own; the first three of all may be known already.
-- Of those who would come before the event only because their safety interval ends nobody knows whether they still live:
-- they do not count, unless the event is so far away that nearly all who live look before it.
local function counted(room, event, now, member, first_three)
  local times = {}
  local function add(found)
    for i = 1, #found, 2 do
      if found[i] ~= member and #times < 2 then
        times[#times + 1] = tonumber(found[i + 1])
      end
    end
  end
  local wait = event - now
  if wait <= 2 * OVERDUE or wait > FAR then
    add(first_three or promises(room, now, 0, 3))
  else
    add(redis.call('ZRANGEBYSCORE', room, now - OVERDUE, now + OVERDUE, 'WITHSCORES', 'LIMIT', 0, 3))
    if #times < 2 then
      add(promises(room, event, 0, 3))
    end
  end
  return times
end

-- Calls those who are missing for an event that comes before all others, and answers with who has promised what: for
-- keep_promises, after the first write. A call is heard only after the script has ended; so if it is refused, nothing is
-- half done.
local function cover(room, queue, event, now)
  event = math.max(event, now)
  local times = counted(room, event, now)
  local first, second = times[1], times[2]
  local missing = {}
  if not first or first > event then
    missing[1] = event
    second = first
  end
  if not second or second > event + SECOND then
    missing[#missing + 1] = event + SECOND
  end
  local given = {}
  local m, from, count = 1, 0, 2
  while missing[m] and from <= DEAD_AT_ONCE do
    local found = promises(room, now, from, count)
    for i = 1, #found, 2 do
      local at = tonumber(found[i + 1])
      local early = at > now + OVERDUE and at < event - OVERDUE and event - now <= FAR
      if missing[m] and (early or at > event + SECOND) then
        local heard = call_consumer(found[i], queue, missing[m] - now)
        -- A promise of the dead must not count: they are overdue.
        given[#given + 1] = heard and missing[m] or 0
        given[#given + 1] = found[i]
        m = heard and m + 1 or m
      end
    end
    from, count = #found > 0 and from + count or math.huge, 16
  end
  return given
end

local function keep_promises(room, given)
  if given and #given > 0 then
    redis.call('ZADD', room, 'XX', unpack(given))
  end
end

-- The same, if what will be due then comes before what consumers know; or if what is due waits for so long that those who
-- promised to come for it must have died.
local function cover_earlier(queue, event, now)
  if not paused then
    local first = first_due()
    if not first or event < first or first < now - OVERDUE then
      return cover(waiting, queue, math.min(event, first or event), now)
    end
  end
end
