-- Looks through the bodies, or through the state records, for what no set leads to, as a key leaves it behind that was
-- evicted or deleted: such a body is delayed again, such a record without a body is dropped. One slice of a walk; it does
-- not matter how often it is executed.
--
-- KEYS  1 to 16 see queue.lua  17 see wakeup.lua  18 the index that these messages are in if they are dead letters, see index.lua
-- ARGV  1 m walks over the bodies, s over the state records, i over the index  2 where the slice begins: 0 at first, then what the slice
--       before it answered  3 the queue's base key
--       4 d if these are dead letters, else nothing
-- Reply  a list: struct 'ddd' time of the call, how many were looked at, and how many ids in the sets have no body; where
--        the next slice begins, 0 at the end; then the ids that are delayed again, or whose records were dropped
-- Cost  O(log N) for each one looked at, about 256 in a call, or about 1 MB of bodies, which are copied
--
-- All that is there during the whole walk is looked at (see SCAN). Whether a set leads to an id is asked in the same call:
-- what is being delivered is left alone, and what was finished is not there.
-- A message is due when its record says, at the latest now if it was being delivered; without a record it is due now, and
-- counts as new. A delivery that it was in has no lease any more, and must not finish it.
-- How many have no body is right if nothing else is amiss, so after the last slice of the bodies.
-- A priority whose set holds something, and that claims do not look at, is noted again by the last slice of the bodies, not
-- before: scripts did not look for ids there either, so one may have been used again since, and the old entry is not true.
-- A dead letter that is not in the index is put there by the walk over the bodies; what is there of one without a body is
-- dropped by the walk over the index.
-- Of an id in several sets one entry is kept, the others are removed: that it is being delivered; else the one where claims
-- look; else, as nobody knows, the later one.

--@include session.lua
--@include record.lua
--@include queue.lua
--@include place.lua
--@include wakeup.lua
--@include index.lua

local SLICE, SLICE_BYTES = 256, 1048576
-- The first step is small, because bodies may be large; and there are not too many, because most of a table may be empty.
local LONGEST_STEP, STEPS = 32, 64
local LEASE_ENDED = 2

local letters = KEYS[18]
local walk, cursor, base, kind = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local dead = kind == 'd'
if not (walk == 'm' or walk == 's' or (walk == 'i' and dead)) or not kind or (kind ~= '' and not dead)
    or not (walk == 'i' or string.find(cursor, '^%d+$')) then
  error('REDISDELAY argument: slice')
end

read_config()
local now = server_time()
local bodies = redis.call('HLEN', messages)
redis.call('HLEN', state)
redis.call('ZCARD', letters)

if walk == 'i' then
  local found = redis.call('ZRANGE', letters, cursor == '0' and '-' or '(' .. cursor, '+', 'BYLEX', 'LIMIT', 0, SLICE)
  local lost = {}
  for i = 1, #found do
    local id, digits = string.match(found[i], '^(.+)%z(%d+)$')
    if not id or redis.call('HEXISTS', messages, id .. '@' .. digits) == 0 then
      lost[#lost + 1] = found[i]
    end
  end
  if #lost > 0 then
    redis.call('ZREM', letters, unpack(lost))
  end
  return { struct.pack('<ddd', now, #found, 0), #found == SLICE and found[SLICE] or '0' }
end

-- What the sets hold: how many ids, in which priorities, and in which of those no claim looks for it.
local ids_in_sets = redis.call('ZCARD', leased)
local sizes, levels, hidden, noted = {}, {}, {}, { [0] = true }
for i = 1, #priorities do
  noted[priorities[i]] = true
end
for level = 0, 9 do
  local size = redis.call('ZCARD', delayed_set(level))
  ids_in_sets = ids_in_sets + size
  sizes[level] = size
  if size > 0 and noted[level] then
    levels[#levels + 1] = level
  elseif size > 0 then
    hidden[#hidden + 1] = level
  end
end
-- The ones in use are asked first.
for i = 1, #hidden do
  levels[#levels + 1] = hidden[i]
end

-- The ids of the slice.
local all, known, bytes, step, steps = {}, {}, 0, 1, 0
repeat
  local found
  if walk == 'm' then
    found = redis.call('HSCAN', messages, cursor, 'COUNT', step)
  else
    found = redis.call('HSCAN', state, cursor, 'COUNT', step)
  end
  cursor = found[1]
  local fields = found[2]
  for i = 1, #fields, 2 do
    local id = fields[i]
    bytes = bytes + #fields[i + 1]
    -- One may be met twice; one without an id is not ours.
    if not known[id] and id ~= '' then
      known[id] = true
      all[#all + 1] = id
    end
  end
  step = math.min(2 * step, LONGEST_STEP)
  steps = steps + 1
until cursor == '0' or #all >= SLICE or bytes >= SLICE_BYTES or steps >= STEPS

-- The members that the index lacks.
local missing = {}
-- The ids that no set leads to; and which are to be taken out of which set, alternating level and id.
local stray, stale = {}, {}
local function take_out(level, id)
  stale[#stale + 1] = level
  stale[#stale + 1] = id
  sizes[level] = sizes[level] - 1
  ids_in_sets = ids_in_sets - 1
end
for from = 1, #all, SLICE do
  local ids = {}
  for i = from, math.min(from + SLICE - 1, #all) do
    ids[#ids + 1] = all[i]
  end
  local members = dead and walk == 'm' and members_of(ids) or {}
  local indexed = #members > 0 and redis.call('ZMSCORE', letters, unpack(members)) or {}
  for i = 1, #members do
    if not indexed[i] then
      missing[#missing + 1] = members[i]
    end
  end
  local found = redis.call('ZMSCORE', leased, unpack(ids))
  -- In which set of delayed ones each is.
  local places = {}
  for l = 1, #levels do
    local level = levels[l]
    local scores = redis.call('ZMSCORE', delayed_set(level), unpack(ids))
    for i = 1, #ids do
      local place = places[i]
      if scores[i] and found[i] and walk == 'm' then
        if place and noted[place] == noted[level] and tonumber(scores[i]) > tonumber(found[i]) then
          take_out(place, ids[i])
          found[i], places[i] = scores[i], level
        else
          take_out(level, ids[i])
        end
      elseif scores[i] then
        found[i], places[i] = scores[i], level
      end
    end
  end
  for i = 1, #ids do
    if not found[i] and (walk == 'm' or redis.call('HEXISTS', messages, ids[i]) == 0) then
      stray[#stray + 1] = ids[i]
    end
  end
end

-- What is noted now: all bodies have been looked at.
local found_again, hides = {}, {}
-- When the first is due of what claims do not know of yet.
local earliest = math.huge
for i = 1, #hidden do
  local level = hidden[i]
  if walk == 'm' and cursor == '0' and sizes[level] > 0 then
    found_again[#found_again + 1] = level
    earliest = math.min(earliest, tonumber(redis.call('ZRANGE', delayed_set(level), '0', '0', 'WITHSCORES')[2]))
  else
    hides[level] = sizes[level] > 0
  end
end

local records, dues = {}, {}
if walk == 'm' then
  for i = 1, #stray do
    -- All at the same time: then they come out in the order of their ids.
    local due = now
    local record = redis.call('HGET', state, stray[i])
    if record then
      record = read_record(record, due, 0)
      if record.claim == NO_CLAIM then
        due = record.due
      else
        due = math.min(record.due, due)
        record.claim, record.reason = NO_CLAIM, LEASE_ENDED
      end
      records[i] = record
    end
    dues[i] = due
    if not (record and hides[waiting_priority(record)]) then
      earliest = math.min(earliest, due)
    end
  end
  ids_in_sets = ids_in_sets + #stray
end

if #stray > 0 or #stale > 0 or #found_again > 0 or #missing > 0 then
  local called = earliest < math.huge and cover_earlier(base, earliest, now)
  -- These need no memory, after which nothing is refused when memory is full; and they tell a user who may not do them
  -- before anything is changed. What follows first is of the one command that is not among them.
  redis.call('ZREM', delayed, '')
  redis.call('HDEL', state, '')
  redis.call('ZADD', leased, 'XX', '0', '')
  for i = 1, #stray do
    if records[i] then
      redis.call('HSET', state, stray[i], write_record(records[i]))
    end
  end
  for i = 1, #stale, 2 do
    redis.call('ZREM', delayed_set(stale[i]), stale[i + 1])
  end
  for i = 1, #missing do
    redis.call('ZADD', letters, '0', missing[i])
  end
  for i = 1, #found_again do
    use_priority(found_again[i])
  end
  keep_promises(waiting, called)
  for i = 1, #stray do
    if walk == 'm' then
      local level = records[i] and waiting_priority(records[i]) or 0
      if not hides[level] then
        use_priority(level)
      end
      redis.call('ZADD', delayed_set(level), dues[i], stray[i])
    else
      redis.call('HDEL', state, stray[i])
    end
  end
end

local reply = { struct.pack('<ddd', now, #all, math.max(0, ids_in_sets - bodies)), cursor }
for i = 1, #stray do
  reply[i + 2] = stray[i]
end
return reply
