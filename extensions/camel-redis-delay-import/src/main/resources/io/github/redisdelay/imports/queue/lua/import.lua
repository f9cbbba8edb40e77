-- Moves messages of a delayed queue of Redisson's into a queue: each that is still there is taken away there and stored here.
--
-- KEYS  messages, delayed, leased, state, sessions, config, waiters,
--       source (their pending messages: sorted set of elements, scored with the times they are due in milliseconds),
--       ready (their ready messages, which are due and not taken: list of payloads),
--       order (the elements of the source in the order in which they were offered: list), nothing (a key that is never there);
--       priorities, see queue.lua
-- ARGV  1 session  2 sequence  3 the queue's base key
--       then, as items.lua reads them, four for each message, at most 256:
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
-- Errors  argument, config, keys, needs, partitions, superseded: nothing is changed
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
--@include clock.lua
--@include items.lua
--@include session.lua
--@include check.lua
--@include effect.lua
--@include queue.lua
--@include pause.lua
--@include place.lua
--@include message.lua
--@include wakeup.lua

local MOVED, GONE, IN_USE, OUT_OF_RANGE, FULL = 1, 2, 3, 4, 5
local LONGEST_EXACT, FURTHER = 1000, 64

if session_stored then
  return session_stored
end
local base, count, now = ARGV[3], items_count, clock_now
local ids, words, elements, bodies = unpack(items_columns)
effect_begin()
queue_read_config()
local ordered = redis.call('LLEN', key_order)
local pending_left = redis.call('ZCARD', key_source)
redis.call('LLEN', key_ready)

for i = 1, count do
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

note_used(key_leased)
for i = 0, #queue_priorities + (queue_places and 1 or 0) do
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
  return redis.call('LPOS', key_ready, element, 'RANK', nth, 'MAXLEN', number + FURTHER) and now + i - 1 or nil
end

-- The messages to move, by their places in the call; and their elements by their kind.
local moved, levels, taken = {}, {}, { pending = {}, ready = {} }
local length, earliest = nil, math.huge
local answers = { now }
local scores = redis.call('ZMSCORE', key_source, unpack(elements))
for i = 1, count do
  local kind, digits, rest = string.match(words[i], '^(%l+)=(%d+)(.*)$')
  if kind ~= 'pending' and kind ~= 'ready' then
    error('REDISDELAY argument: message ' .. i)
  end
  local number = check_integer(digits, 0, kind == 'pending' and 999 or CALL_MAX_EXACT, 'place of message ', i)
  local level, limit = place_options(rest, i)
  local id = ids[i]
  local due, outcome = find(i, kind, number, scores[i]), MOVED
  if limit then
    length = length or redis.call('HLEN', key_messages)
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
    queue_need_priorities(level > 0)
    moved[#moved + 1] = i
    levels[i] = level
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
  local heads = redis.call('LRANGE', key_order, 0, 2 * count - 1)
  local there = redis.call('ZMSCORE', key_source, unpack(heads))
  local head = 1
  while heads[head] and (going[heads[head]] or not there[head]) do
    -- From a short order those that go are removed by themselves.
    dead = (ordered <= LONGEST_EXACT and going[heads[head]]) and dead or dead + 1
    head = head + 1
  end
end
local promises = #moved > 0 and wakeup_cover_earlier(base, earliest, now)

-- Needs no memory: after it, nothing is refused when memory is full.
redis.call('ZREM', key_leased, '')
if session_preflight_due then
  -- The commands on their keys are tried on nothing: a permission that is missing is told here.
  redis.call('ZREM', key_source, '\0' .. ARGV[1])
  redis.call('LPOP', key_order, 0)
  redis.call('LPOP', key_ready, 0)
  redis.call('LREM', key_nothing, 1, '')
  redis.call('UNLINK', key_nothing)
end
for _, i in ipairs(moved) do
  message_store(ids[i], levels[i], now, answers[2 * i + 1], bodies[i])
end
pause_keep()
if #pending > 0 then
  redis.call('ZREM', key_source, unpack(pending))
end
for i = 1, #taken.ready do
  redis.call('LREM', key_ready, 1, taken.ready[i])
end
if pending_left <= 0 then
  redis.call('UNLINK', key_order)
else
  for i = 1, ordered <= LONGEST_EXACT and #pending or 0 do
    redis.call('LREM', key_order, 1, pending[i])
  end
  if dead > 0 then
    redis.call('LPOP', key_order, dead)
  end
end
local reply = effect_end(struct.pack('<d' .. string.rep('Bd', count), unpack(answers)))
wakeup_write(wakeup_waiters, promises)
return reply
