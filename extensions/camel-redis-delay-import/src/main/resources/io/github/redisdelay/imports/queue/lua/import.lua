-- Moves messages of a delayed queue of Redisson's into a queue: each that is still there is taken away there and stored here.
--
-- KEYS  1 to 17 see queue.lua  18 their pending messages: sorted set of elements, scored with the times
--       they are due in milliseconds  19 the same elements in the order in which they were offered: list  20 their ready
--       messages, which are due and not taken: list of payloads  21 a key that is never there
-- ARGV  1 session  2 sequence  3 the queue's base key
--       then four for each message, at most 256:
--         id
--         words with a space between them: 'pending=' and microseconds, 0 to 999, that are added to its time; or 'ready=' and
--           where it was in their list, from 0; then, if they are not the defaults, priority=0 to 9, and limit= how many
--           messages the queue may hold
--         the element of a pending one, the payload of a ready one
--         the body to store
-- Reply bytes: struct 'd' time of the call, then for each message 'Bd' outcome and due time
--         1 MOVED
--         2 GONE          it is not there any more: an old consumer or another import was first
--         3 IN_USE        left there: its id is in use here
--         4 OUT_OF_RANGE  left there: its time is negative, no whole number, or beyond the exact range
--         5 FULL          left there: the queue holds as many messages as the reply says instead of a time
-- Errors  argument, config, format, partitions, superseded: nothing is changed
-- Cost  O(log N) for each message; for a ready one a step for each before it; and a step for each element of their order,
--       as long as that has 1000 or fewer
--
-- Nothing needs memory before the first write, and a move frees more than it takes: a full Redis is relieved.
-- The order in which messages were offered serves only their remove, contains, size and the like. It is kept exact while it
-- is short. In a long one elements stay behind that are gone; they are dropped as they come to its head, and all at once with
-- the last message.
-- A ready message can only have moved towards the head of its list since it was seen, so it is looked for from there to where
-- it was, and a little further. Of equal payloads each is taken once.

--@include call.lua
--@include session.lua
--@include queue.lua
--@include place.lua
--@include wakeup.lua

local MOVED, GONE, IN_USE, OUT_OF_RANGE, FULL = 1, 2, 3, 4, 5
local LONGEST_EXACT, FURTHER = 1000, 64

local source, order, ready, nothing = KEYS[18], KEYS[19], KEYS[20], KEYS[21]
local base = ARGV[3]
local count = call_items(3, 4, 'messages')
local now, stored = session_begin(QUEUE_KINDS, 'z')
if stored then
  return stored
end
queue_read_config()
local ordered = redis.call('LLEN', order)
local pending_left = redis.call('ZCARD', source)
redis.call('LLEN', ready)

local ids, words, elements = {}, {}, {}
for i = 1, count do
  local at = 4 * i
  ids[i], words[i], elements[i] = ARGV[at], ARGV[at + 1], ARGV[at + 2]
  if #ids[i] == 0 then
    error('REDISDELAY argument: message ' .. i)
  end
end

local used = {}
local function note_used(set)
  local scores = redis.call('ZMSCORE', set, unpack(ids))
  for i = 1, count do
    used[ids[i]] = used[ids[i]] or scores[i]
  end
end

note_used(queue_leased)
for i = 0, #queue_priorities do
  note_used(queue_delayed_set(queue_priorities[i]))
end

-- How often an element was met in this call.
local met = {}

-- Returns when a message is due that is still there; nil if it is not.
local function find(i, kind, number, score)
  local element = elements[i]
  local nth = (met[element] or 0) + 1
  met[element] = nth
  if kind == 'pending' then
    return nth == 1 and score and tonumber(score) * 1000 + number or nil
  end
  return redis.call('LPOS', ready, element, 'RANK', nth, 'MAXLEN', number + FURTHER) and now + i - 1 or nil
end

-- The messages to move: ids; bodies behind their ids; for each priority ids behind their due times; then elements by their kind.
local moved, fields, levels, taken = {}, {}, {}, { pending = {}, ready = {} }
local length, earliest = nil, math.huge
local answers = { now }
local scores = redis.call('ZMSCORE', source, unpack(elements))
for i = 1, count do
  local kind, digits, rest = string.match(words[i], '^(%l+)=(%d+)(.*)$')
  if kind ~= 'pending' and kind ~= 'ready' then
    error('REDISDELAY argument: message ' .. i)
  end
  local number = call_integer(digits, 0, kind == 'pending' and 999 or CALL_MAX_EXACT, 'place of message ', i)
  local level, limit = place_options(rest, i)
  local id, body = ids[i], ARGV[4 * i + 3]
  local due, outcome = find(i, kind, number, scores[i]), MOVED
  if limit then
    length = length or redis.call('HLEN', queue_messages)
  end
  if not due then
    due, outcome = 0, GONE
  elseif due < 0 or due % 1 ~= 0 or due > CALL_MAX_EXACT then
    due, outcome = 0, OUT_OF_RANGE
  elseif used[id] then
    outcome = IN_USE
  elseif limit and length + #moved >= limit then
    due, outcome = length + #moved, FULL
  else
    used[id] = true
    moved[#moved + 1] = id
    fields[#fields + 1] = id
    fields[#fields + 1] = struct.pack('<dd', now, due) .. body
    local dues = levels[level] or {}
    levels[level] = dues
    dues[#dues + 1] = due
    dues[#dues + 1] = id
    local there = taken[kind]
    there[#there + 1] = elements[i]
    earliest = math.min(earliest, due)
  end
  answers[2 * i], answers[2 * i + 1] = outcome, due
end

local pending = taken.pending
pending_left = pending_left - #pending
-- How many elements at the head of the order are gone, or are so after this call.
local dead = 0
if ordered > 0 and pending_left > 0 then
  local going = {}
  for i = 1, #pending do
    going[pending[i]] = true
  end
  local heads = redis.call('LRANGE', order, 0, 2 * count - 1)
  local there = redis.call('ZMSCORE', source, unpack(heads))
  local head = 1
  while heads[head] and (going[heads[head]] or not there[head]) do
    -- From a short order those that go are removed by themselves.
    dead = (ordered <= LONGEST_EXACT and going[heads[head]]) and dead or dead + 1
    head = head + 1
  end
end
local promises = #moved > 0 and wakeup_cover_earlier(base, earliest, now)

-- Needs no memory: after it, nothing is refused when memory is full.
redis.call('ZREM', queue_leased, '')
if session_preflight_due then
  -- The commands on their keys are tried on nothing: a permission that is missing is told here.
  redis.call('ZREM', source, '\0' .. ARGV[1])
  redis.call('LPOP', order, 0)
  redis.call('LPOP', ready, 0)
  redis.call('LREM', nothing, 1, '')
  redis.call('UNLINK', nothing)
end
if #moved > 0 then
  redis.call('HSET', queue_messages, unpack(fields))
  redis.call('HDEL', queue_state, unpack(moved))
  for level, dues in pairs(levels) do
    place_use_priority(level)
    redis.call('ZADD', queue_delayed_set(level), unpack(dues))
  end
end
if #pending > 0 then
  redis.call('ZREM', source, unpack(pending))
end
for i = 1, #taken.ready do
  redis.call('LREM', ready, 1, taken.ready[i])
end
if pending_left <= 0 then
  redis.call('UNLINK', order)
else
  for i = 1, ordered <= LONGEST_EXACT and #pending or 0 do
    redis.call('LREM', order, 1, pending[i])
  end
  if dead > 0 then
    redis.call('LPOP', order, dead)
  end
end
local reply = session_end(now, struct.pack('<d' .. string.rep('Bd', count), unpack(answers)))
wakeup_write(wakeup_waiters, promises)
return reply
