-- Says how many partitions a queue has, and changes that while nothing uses the queue.
--
-- KEYS  1 config  2 dead config  3 messages  4 dead messages  5 seen  6 consumers  7 dead consumers
-- ARGV  1 what is asked
--         of the keys whose tag is the queue's name alone, which hold the number for all:
--           e  a client begins to use the queue with this number of partitions. It is recorded if these keys hold the
--              whole queue and nothing uses it; a change that somebody else has begun ends
--           v  the same for a client that has asked before: the number stays as it is
--           r  the same for a client that uses the queue: recorded only where nothing is, as Redis may have lost it
--           b  a change to this number begins, if the number was the expected one until now
--           f  the old partitions are closed in this turn: the number holds from now on
--           d  the partitions are open, and the change of this turn is done
--         of the keys of a partition:
--           u  whether nothing uses them
--           c  they are closed in this turn, unless something uses them: the queue has this number of partitions elsewhere
--           o  they are opened, unless they were closed in a later turn
--       2 the number of partitions  3 the turn, for b, e and v one that was met, else 0  4 for b the number that was expected, else 0
-- Reply bytes: struct 'dddddddd' whether that is so now: 1 or 0, of e, v and r also 2, and the client has to open the partitions in
--       this turn; the number of partitions that holds, for u, c and o 0 if these keys are open; the latest turn; and what uses these keys: messages, dead letters, ids that are remembered as
--       duplicates, consumers seen in the last 140 s, and whether the queue is paused (1 or 0)
-- Cost  O(log N), and one step for each consumer
--
-- config: partitions (how many; missing: one), turn (how often that was begun to be changed), changing (the turn of a
-- change under way), closed (see queue.lua). All partitions are closed one after the other, each only if nothing uses it,
-- before another number holds; whoever still works with the old one is refused by the scripts. A turn that was overtaken
-- closes and opens nothing any more, whenever its calls arrive.

--@include session.lua

local config, dead_config, messages, dead_messages = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local seen, consumers, dead_consumers = KEYS[5], KEYS[6], KEYS[7]
local SEEN_LATELY = 140 * 1000000
local MOST = 64

local action = ARGV[1]
if not string.find(action, '^[evrbfduco]$') then
  error('REDISDELAY argument: action')
end
local number = integer(ARGV[2], 1, MOST, 'number of partitions')
local turn = integer(ARGV[3], 0, MAX_EXACT, 'turn')
local expected = integer(ARGV[4], 0, MOST, 'expected number of partitions')

local now = server_time()
local found = redis.call('HMGET', config, 'format', 'partitions', 'turn', 'changing', 'closed', 'paused')
check_format(found[1])
local recorded, latest, changing, closed = tonumber(found[2]), tonumber(found[3]) or 0, tonumber(found[4]), tonumber(found[5])
local dead_paused = redis.call('HGET', dead_config, 'paused')

local function seen_lately(set)
  local count, records = 0, redis.call('HVALS', set)
  for i = 1, #records do
    if #records[i] >= 8 and struct.unpack('<d', records[i]) > now - SEEN_LATELY then
      count = count + 1
    end
  end
  return count
end

local use = { redis.call('HLEN', messages), redis.call('HLEN', dead_messages), redis.call('ZCOUNT', seen, now, '+inf'),
  seen_lately(consumers) + seen_lately(dead_consumers), (found[6] == '1' or dead_paused == '1') and 1 or 0 }
local unused = true
for i = 1, #use do
  unused = unused and use[i] == 0
end

local done = false
-- What is to be written: the number, the turn, and the turn of a change under way if they are new; whether none is under way any
-- more; and the number with which these keys are closed, or 0 to open them.
local new_number, new_turn, new_changing, settled, close
-- Whether the client has to open the partitions.
local opens
local holds = recorded or 1
if action == 'e' or action == 'v' or action == 'r' then
  if holds == number then
    -- A failover may have lost the turn in which a partition was closed.
    done, opens = true, changing or turn > latest
    new_turn = opens and math.max(latest, turn) + 1
    new_changing = new_turn
  elseif holds == 1 and unused and (action == 'e' or (action == 'r' and not recorded)) then
    done, opens = true, true
    new_number, new_turn, close = number, latest + 1, number
    new_changing = new_turn
  end
elseif action == 'b' then
  if holds == expected and holds ~= number then
    done, new_turn = true, math.max(latest, turn) + 1
    new_changing = new_turn
  end
elseif action == 'f' then
  if changing == turn then
    done, new_number = true, number
    close = number > 1 and number or 0
  end
elseif action == 'd' then
  done, settled = true, changing == turn
elseif action == 'u' then
  done = unused
elseif action == 'c' then
  if unused and turn >= latest then
    done, new_turn, close = true, turn, number
  end
elseif turn >= latest then
  done, new_turn, close = true, turn > latest and turn, closed and 0
else
  done = not closed
end

if new_turn or new_number or close or settled then
  -- Needs no memory: after it, nothing is refused when memory is full.
  redis.call('HDEL', config, '')
end
if new_turn then
  latest = new_turn
  redis.call('HSET', config, 'turn', string.format('%.0f', new_turn))
end
if new_changing then
  redis.call('HSET', config, 'changing', string.format('%.0f', new_changing))
end
if new_number then
  holds = new_number
  redis.call('HSET', config, 'partitions', string.format('%.0f', new_number))
end
if close then
  closed = close
  if close > 0 then
    redis.call('HSET', config, 'closed', string.format('%.0f', close))
    redis.call('HSET', dead_config, 'closed', string.format('%.0f', close))
  else
    redis.call('HDEL', config, 'closed')
    redis.call('HDEL', dead_config, 'closed')
  end
end
if settled then
  redis.call('HDEL', config, 'changing')
end
if string.find(action, '^[uco]$') then
  holds = closed or 0
end
return struct.pack('<dddddddd', opens and 2 or done and 1 or 0, holds, latest, use[1], use[2], use[3], use[4], use[5])
