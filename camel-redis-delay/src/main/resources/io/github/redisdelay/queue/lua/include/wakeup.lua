-- Included where something may become due earlier than consumers know, after queue.lua: who is woken for it.
--
-- waiters: sorted set of the consumers that could take a message -> when each has promised to come, in microseconds
--     member: a name of the consumer's own without spaces, which ends with '-' and the version of its client; a space; the
--     channel on which its client listens. A name that
--     begins with '~' belongs to a client for which the number of receivers that PUBLISH answers says nothing, as in a
--     cluster
--
-- The cover rule: somebody comes by the next event (a message is due, or a lease expires). Every claim, and every command that
-- makes an earlier event, keeps it: if all would come later, the command writes a new promise for the one that would come
-- first, and wakes its client only. So the price of an event does not depend on the number of consumers.
-- Besides, each consumer comes at its turn (see claim.lua): whoever has died, the queue sees a claim every few seconds, and each
-- one keeps the rule. So only how soon a message is taken depends on this set.

local wakeup_waiters = key_waiters
-- A consumer that is later than this counts as dead until its next claim.
local WAKEUP_OVERDUE_MICROS = 25000
-- If nobody hears a wake-up, so many others are tried in one call.
local WAKEUP_MOST_DEAD = 64

-- Wakes a consumer's client: something will be due in so many microseconds. Returns whether that may have been heard.
-- message: 1, the version of this form; wait in microseconds; the queue's base key; with a space between them
local function wakeup_send(member, base, micros)
  local name, channel = string.match(member, '^(%S+) (.+)$')
  if not name then
    return false
  end
  local heard = redis.call('PUBLISH', channel, '1 ' .. string.format('%.0f', micros) .. ' ' .. base)
  return heard > 0 or string.byte(name) == 126
end

-- Wakes a consumer if none comes by an event that comes before all others. Returns the new promises for wakeup_write, which
-- comes after the first write, and whether somebody comes. A wake-up is heard only after the command has ended.
local function wakeup_cover(waiters, base, event, now)
  event = math.max(event, now)
  local promises, from, count = {}, 0, 1
  repeat
    local found = redis.call('ZRANGEBYSCORE', waiters, now - WAKEUP_OVERDUE_MICROS, '+inf', 'WITHSCORES', 'LIMIT', from, count)
    for i = 1, #found, 2 do
      local comes = tonumber(found[i + 1]) <= event
      if not comes then
        comes = wakeup_send(found[i], base, event - now)
        -- The promise of a dead consumer must not count: it becomes overdue.
        promises[#promises + 1], promises[#promises + 2] = comes and event or 0, found[i]
      end
      if comes then
        return promises, true
      end
    end
    from, count = from + count, 16
  until #found == 0 or from > WAKEUP_MOST_DEAD
  return promises, false
end

-- The same for what a command makes due. Wakes nobody if something is due before it, unless that has waited for so long that
-- whoever promised to come for it must have died.
local function wakeup_cover_earlier(base, event, now)
  if not queue_paused then
    local first, next = queue_first_due(event)
    if not first or next < first or first < now - WAKEUP_OVERDUE_MICROS then
      return wakeup_cover(wakeup_waiters, base, math.min(next, first or next), now)
    end
  end
end

local function wakeup_write(waiters, promises)
  if promises and #promises > 0 then
    redis.call('ZADD', waiters, 'XX', unpack(promises))
  end
end
