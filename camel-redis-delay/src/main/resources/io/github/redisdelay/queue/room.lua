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

-- Calls those who are missing for an event that comes before all others, and answers with who has promised what: for
-- keep_promises, after the first write. A call is heard only after the script has ended; so if it is refused, nothing is
-- half done.
local function cover(room, queue, event, now)
  event = math.max(event, now)
  local given = {}
  local deadline, from, count = event, 0, 2
  repeat
    local found = promises(room, now, from, count)
    for i = 1, #found, 2 do
      local heard = true
      if tonumber(found[i + 1]) > deadline then
        heard = call_consumer(found[i], queue, deadline - now)
        -- A promise of the dead must not count: they are overdue.
        given[#given + 1] = heard and deadline or 0
        given[#given + 1] = found[i]
      end
      if heard and deadline > event then
        return given
      elseif heard then
        deadline = event + SECOND
      end
    end
    from, count = from + count, 16
  until #found == 0 or from > DEAD_AT_ONCE
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
      return cover(waiting, queue, event, now)
    end
  end
end
