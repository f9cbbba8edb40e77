-- Included where messages move from one set to another, after check.lua: the queue's sets and its configuration.
-- queue_delayed_set names the set of a priority.
--
-- config: hash; every field may be missing
--     needs       the features that a client must know, each with the version that knows it first, as 'groups=0.2 rates=0.3'
--     priorities  the priorities above 0 in use, one digit each, the highest first
--     paused      no message is claimed since this time, in microseconds
--     partitions  the number of partitions of the queue, if it is recorded (see partitions.lua). The keys of a partition do
--                 not have it: with more than 1, these keys are none of a partition
--     groupLimit  how many places a group has, 0 for any number; a space, and limit-strict, or limit-relaxed if a retry lets others
--                 of its group pass. If it is missing: '1 limit-strict'. Behind it ' changed' and since when, until all groups
--                 are in line with it
--     rate        at what rate deliveries of the queue begin: 1024 times the microseconds from one to the next one, and how many may
--                 begin at once
--     next        when the next one may begin by that rate, in microseconds; by it alone, earlier ones count. It outlives the rate
--                 until that time, so that one which is set again counts them, too
--     groupRate   the same for each group; when its next one may begin is in `gates`, see gate.lua
--     concurrency  how many places for leased messages the queue has; without it any number
--     freed       when a delivery ended last whose place a due message was kept from, in microseconds
-- The key expires when the queue has been idle for long, see pause.lua and partitions.lua.
--
-- The set in which a delayed id waits is its priority: `delayed` for 0. A queue that uses no other priority pays for none: the
-- keys delayed:1 to delayed:9 come behind all others, and the caller may leave them out. If the call or the queue uses
-- priorities, the call is refused with the error `keys`, and has changed nothing; its caller sends it again with all keys.

-- The findings of queue_read_config. The priorities above 0 stand from index 1 on, the highest first; index 0 is always 0, so
-- that a loop from there goes through all sets of delayed messages.
-- queue_needs: what the messages need that the queue holds, or did since it was empty.
local queue_priorities, queue_paused, queue_needs

-- How many places a group has, nil if the queue has no messages with groups; whether a retry lets others of its group pass; and
-- whether all groups are in line with that, and no rate or pause says more, so that what has a place may be given.
local queue_places, queue_relaxed, queue_aligned

-- queue_priorities.limits: the limits of a queue that has a rate, one for its groups, a number of places, or a group that is paused;
-- else nil. Here, as a name of its own would cost each function that uses it, also in queues without limits.
--     interval, burst, group_interval  of the rates, in microseconds, 0 for none; and how many at once
--     group_slack  for how long a group must have rested to have its whole burst
--     opens  when the next delivery may begin by the rate of the queue; 0 without one
--     next, places  as in `config`, 0 and nil without
-- Returns the set of a priority; without one, or of 10, that of parked messages; of 11 the index of groups, see member.lua; of 12
-- and 13 the gates of groups and those that open, see gate.lua.
local function queue_delayed_set(priority)
  if priority == 0 then
    return key_delayed
  end
  return KEYS[KEY_PRIORITIES + (priority or 10)]
end

-- Refuses a call that needs the sets of the priorities and does not name them.
local function queue_need_priorities(needed)
  if needed and not KEYS[KEY_PRIORITIES + 9] then
    error('REDISDELAY keys: this call or this queue uses priorities')
  end
end

-- Reads the configuration; once more if the call turns out to be about messages with a group. Refuses the call if the queue has
-- several partitions, which have keys of their own; not if it finishes deliveries: it finds none. If the configuration was lost,
-- a caller that names the index of groups finds that the queue has some.
local function queue_read_config(finishes, has_groups)
  local found = redis.call('HMGET', key_config, 'needs', 'priorities', 'paused', 'partitions', 'groupLimit')
  check_needs(found[1])
  local partitions = found[4]
  if partitions and partitions ~= '1' and not finishes then
    error('REDISDELAY partitions: ' .. partitions)
  end
  queue_priorities, queue_paused, queue_needs = { [0] = 0 }, found[3], found[1]
  if has_groups or queue_needs and string.find(queue_needs, CHECK_GROUPS, 1, true)
      or KEYS[KEY_PRIORITIES + 11] and redis.call('EXISTS', queue_delayed_set(11)) == 1 then
    queue_need_priorities(true)
    queue_places, queue_relaxed = tonumber(string.match(found[5] or '1', '^%d+')) or 1, string.find(found[5] or '', 'relaxed')
    queue_places = queue_places > 0 and queue_places or math.huge
    queue_aligned = not string.find(found[5] or '', 'changed')
  end
  if queue_needs and string.find(queue_needs, 'limits=0.1', 1, true) then
    local limits = redis.call('HMGET', key_config, 'rate', 'next', 'groupRate', 'concurrency')
    local rate, next, group = tonumber(limits[1]) or 0, tonumber(limits[2]) or 0, tonumber(limits[3]) or 0
    queue_priorities.limits = { opens = rate > 0 and next or 0, next = next, interval = math.floor(rate / 1024), burst = rate % 1024,
      group_interval = math.floor(group / 1024), group_slack = math.max(0, group % 1024 - 1) * math.floor(group / 1024),
      places = tonumber(limits[4]) }
    -- The last limit was removed: who may forget that looks for gates, too.
    queue_need_priorities(rate + group == 0 and not limits[4])
    queue_aligned = false
  end
  local digits = found[2]
  if not digits then
    return
  end
  if not string.find(digits, '^[1-9]*$') then
    error('REDISDELAY config: priorities')
  end
  for i = 1, #digits do
    queue_priorities[i] = string.byte(digits, i) - 48
    if i > 1 and queue_priorities[i] >= queue_priorities[i - 1] then
      error('REDISDELAY config: priorities')
    end
  end
  queue_need_priorities(#digits > 0)
end

-- Returns the lowest score of a set, nil if it is empty.
local function queue_head(set)
  return tonumber(redis.call('ZRANGE', set, '0', '0', 'WITHSCORES')[2])
end

-- When the first delayed message is due, or may be given by the limits; nil if there is none. And when an event is, by the limits of
-- the queue. While all places are taken, that is when the lease expires without which one is free.
local function queue_first_due(event)
  local first
  for i = 0, #queue_priorities do
    local other = queue_head(queue_delayed_set(queue_priorities[i]))
    if other and (not first or other < first) then
      first = other
    end
  end
  local limits = queue_priorities.limits
  if limits then
    local opens = queue_places and queue_head(queue_delayed_set(13))
    local frees = limits.places and redis.call('ZRANGE', key_leased, -limits.places, -limits.places, 'WITHSCORES')[2]
    local from = math.max(limits.opens, tonumber(frees or 0))
    first = (first or opens) and math.max(from, math.min(first or math.huge, opens or math.huge))
    event = event and math.max(from, event)
  end
  return first, event
end
