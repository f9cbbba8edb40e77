-- Stores messages with the time at which they are due.
--
-- KEYS  1 to 16 see queue.lua  17 see wakeup.lua
-- ARGV  1 lane  2 sequence  3 the queue's base key
--       then five for each message, at most 256:
--         id
--         two letters: d a delay or a a time; r reject, i ignore or p replace, if the id is in use; then, where they are
--           not the defaults, the priority (0 to 9), and a colon and how many messages the queue may hold
--         the delay or the time, in microseconds
--         the claim id under which the caller holds the message with this id, or nothing
--         the body
-- Reply bytes: struct 'd' time of the call, then for each message 'Bd' outcome and due time
--         1 scheduled  2 replaced  3 took the place of the delivery under way  4 in use: delayed  5 in use: leased
--         6 the due time is beyond the exact range  7 finished lately, instead of the due time: until when that counts
--         8 the queue is full, instead of the due time: how many messages it holds  9 a claim id was given, and the
--         message is gone: it was cancelled, or finished by another delivery, and must not come back
-- Cost  O(log N) for each message
--
-- A message is stored as struct '<d' time of scheduling, then its body. For delays the position in the call is added in
-- microseconds, so that messages come out in the order in which they were scheduled.
-- The only script that may be refused when the server's memory is full: then its first write is, and nothing is changed.
-- Messages whose ids are new are stored together, with one command for each key.

--@include session.lua
--@include queue.lua
--@include seen.lua
--@include wakeup.lua

local lane = ARGV[1]
local sequence = integer(ARGV[2], 1, MAX_EXACT, 'sequence')
local count = (#ARGV - 3) / 5
if count < 1 or count > 256 or count ~= math.floor(count) then
  error('REDISDELAY argument: number of messages')
end

local now = server_time()
local stored, first = repeated(calls, lane, sequence, now)
if stored then
  return stored
end
read_config()
local length = redis.call('HLEN', messages)
redis.call('HLEN', state)
local remembers = any_seen()

-- What the two letters and what follows them say: letters -> table. In most calls all messages have the same.
local manners = {}

local function read_manner(text, i)
  local time, policy, level, rest = string.match(text, '^([da])([rip])([0-9]?)(.*)$')
  local limit = time and string.match(rest, '^:(%d+)$')
  if not time or (#rest > 0 and not limit) then
    error('REDISDELAY argument: message ' .. i)
  end
  local manner = { relative = time == 'd', policy = policy, level = tonumber(level) or 0,
    limit = limit and integer(limit, 1, MAX_EXACT, 'limit of message ', i) or math.huge }
  if manner.level > 0 then
    -- Checks the kind of the key.
    redis.call('ZCARD', delayed_set(manner.level))
  end
  manners[text] = manner
  return manner
end

local ids, dues, known = {}, {}, {}
local earliest = math.huge
local arguments = ARGV -- a local is read faster
-- Whether all messages are plain ones with new ids.
local new = true
for i = 1, count do
  local at = 3 + (i - 1) * 5
  local id, letters, claim = arguments[at + 1], arguments[at + 2], arguments[at + 4]
  local manner = manners[letters] or read_manner(letters, i)
  if #id == 0 or (#claim ~= 0 and #claim ~= 16) then
    error('REDISDELAY argument: message ' .. i)
  end
  local due = integer(arguments[at + 3], 0, MAX_EXACT, 'due time of message ', i)
  if manner.relative then
    due = now + due + (i - 1)
  end
  if due > MAX_EXACT then
    new = false
  elseif due < earliest then
    earliest = due
  end
  if known[id] or #claim > 0 or manner.level > 0 or length + count > manner.limit then
    new = false
  end
  known[id] = true
  ids[i] = id
  dues[i] = due
end

-- Whether none of the ids is in a set.
local function none_in(set)
  local scores = redis.call('ZMSCORE', set, unpack(ids))
  for i = 1, count do
    if scores[i] then
      return false
    end
  end
  return true
end

new = new and none_in(delayed) and none_in(leased) and not (remembers and not none_in(seen))
for i = 1, #priorities do
  new = new and none_in(delayed_set(priorities[i]))
end

local scheduled = struct.pack('<d', now)
local reply, called
if new then
  called = cover_earlier(ARGV[3], earliest, now)
  if first then
    rehearse(calls, leased, first)
  end
  local scores, fields, answers = {}, {}, { now }
  for i = 1, count do
    local at = 3 + (i - 1) * 5
    local id, due = ids[i], dues[i]
    scores[2 * i - 1], scores[2 * i] = due, id
    fields[2 * i - 1], fields[2 * i] = id, scheduled .. ARGV[at + 5]
    answers[2 * i], answers[2 * i + 1] = 1, due
  end
  -- The first write: refused when memory is full.
  redis.call('ZADD', delayed, unpack(scores))
  if redis.call('HSET', messages, unpack(fields)) < count then
    -- A body that is in no set, as eviction leaves it behind: its id is free, and what is known of it is not about this one.
    redis.call('HDEL', state, unpack(ids))
  end
  reply = struct.pack('<d' .. string.rep('Bd', count), unpack(answers))
else
--@include record.lua
--@include place.lua
  local ids_in_sets = redis.call('ZCARD', delayed) + redis.call('ZCARD', leased)
  for i = 1, #priorities do
    ids_in_sets = ids_in_sets + redis.call('ZCARD', delayed_set(priorities[i]))
  end
  -- Some were lost (to eviction, or deleted by hand), and a new message may get the id of one.
  local bodies_lost = length < ids_in_sets
  called = earliest < math.huge and cover_earlier(ARGV[3], earliest, now)
  -- The first write: refused when memory is full.
  redis.call('ZADD', leased, 'XX', '0', '')
  rehearse(calls, leased, first)
  reply = { scheduled }
  for i = 1, count do
    local at = 3 + (i - 1) * 5
    local id, due, claim, body = ids[i], dues[i], ARGV[at + 4], ARGV[at + 5]
    local manner = manners[ARGV[at + 2]]
    local level = manner.level
    local outcome
    -- What is in use is told as that; what may take the place of something is not asked for these.
    local until_then = remembers and manner.policy ~= 'p' and remembered_until(id, now)
    local full = length >= manner.limit
    local claimed = #claim == 16
    local free = (until_then or full or claimed) and redis.call('HEXISTS', messages, id) == 0
    if due > MAX_EXACT then
      outcome = 6
    elseif claimed and free and not redis.call('ZSCORE', leased, id) then
      due, outcome = 0, 9
    elseif until_then and free then
      due, outcome = until_then, 7
    elseif full and free then
      due, outcome = length, 8
    elseif redis.call('HSETNX', messages, id, scheduled .. body) == 1 then
      if bodies_lost then
        remove_delayed(id)
        redis.call('ZREM', leased, id)
        redis.call('HDEL', state, id)
      end
      use_priority(level)
      redis.call('ZADD', delayed_set(level), due, id)
      length = length + 1
      outcome = 1
    else
      local pending, before = find_delayed(id)
      local lease = not pending and redis.call('ZSCORE', leased, id)
      local holder = lease and claimed and holds(leased, state, id, claim)
      if holder or manner.policy == 'p' or not (pending or lease) then
        -- Also what is in no set, as eviction leaves it behind: its id is free.
        redis.call('ZREM', leased, id)
        redis.call('HDEL', state, id)
        redis.call('HSET', messages, id, scheduled .. body)
        if pending and before ~= level then
          redis.call('ZREM', delayed_set(before), id)
        end
        use_priority(level)
        redis.call('ZADD', delayed_set(level), due, id)
        outcome = lease and 3 or pending and 2 or 1
      elseif pending then
        due, outcome = tonumber(pending), 4
      else
        due, outcome = tonumber(lease), 5
      end
    end
    reply[i + 1] = struct.pack('<Bd', outcome, due)
  end
  reply = table.concat(reply)
end
if remembers then
  forget_some(now)
end
remember(calls, lane, sequence, now, reply, first)
-- Last: who may not do all of the above has changed nothing.
keep_promises(waiting, called)
return reply
