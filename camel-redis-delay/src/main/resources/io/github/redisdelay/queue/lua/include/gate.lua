-- Included by group.lua: the gate of a group, which is closed while its rate is used up, or while it is paused.
--
-- gates: hash; group -> struct '<ddd' when its next delivery may begin by the rate; since when it is paused, and until when
-- opens: sorted set; group of which messages are parked behind its gate -> when that opens

-- Makes a failed message that waits in its place for a gate due as its record says: a claim puts it back if that is still closed.
local function gate_forget(id)
  redis.call('ZADD', key_delayed, 'XX', 'LT', record_read(redis.call('HGET', key_state, id), math.huge, 0).due, id)
end

-- Counts a delivery of a group that begins, or stores until when the group is paused; pause_keep says how long the key lasts. If
-- the gate was moved, failed messages that wait in their places for it are due as their records say.
local function gate_write(group, next, since, ends, moved)
  redis.call('HSET', queue_delayed_set(12), group, struct.pack('<ddd', next, since, ends))
  group_changed[group] = true
  local kept = member_make(group, MEMBER_PLACE, '', MEMBER_KEPT)
  for _, one in ipairs(moved and redis.call('ZRANGE', queue_delayed_set(11), '[' .. kept, '(' .. kept .. '\255', 'BYLEX') or {}) do
    gate_forget(string.sub(one, #kept + 1))
  end
end

-- Returns when the gate of a group opens, false if it is open; and what is stored of it.
local function gate_read(group)
  local bytes, now = redis.call('HGET', queue_delayed_set(12), group), clock_now
  local next, since, ends = struct.unpack('<ddd', bytes and #bytes == 24 and bytes or string.rep('\0', 24))
  -- Times of a clock that was ahead, or of a slower rate, must not last for longer than was meant.
  local latest = now + queue_priorities.limits.group_interval
  if next > latest or since > now then
    next, since, ends = math.min(next, latest), math.min(since, now), math.min(ends, now + math.max(0, ends - since))
    gate_write(group, next, since, ends, true)
  end
  local opens = math.max(next, ends)
  return opens > now and opens, next, since, ends
end

-- Pauses a group until a time, unless it is paused for longer; 0 ends its pause. Returns until when it was paused, 0 if it was not.
local function gate_pause(group, till)
  member_need(CHECK_GROUPS)
  member_need(CHECK_LIMITS)
  queue_read_config(true, true)
  local _, next, _, ends = gate_read(group)
  if till == 0 and ends > 0 or till > math.max(ends, clock_now) then
    gate_write(group, next, clock_now, till, true)
  end
  return ends > clock_now and ends or 0
end

-- Returns up to so many of some members of a group that were never begun: they are delayed, with the due times of their members.
local function gate_new(group, members, most)
  local ids, dues, new, _ = {}, {}, {}, nil
  for i = 1, #members do
    _, dues[i], ids[i] = member_parts(members[i], group)
  end
  local scores = #ids > 0 and redis.call('ZMSCORE', key_delayed, unpack(ids)) or {}
  for i = 1, #ids do
    new[#new + 1] = #new < most and scores[i] and tonumber(scores[i]) == dues[i] and members[i] or nil
  end
  return new
end

-- Returns how many messages of a group have begun and not ended: those are leased, or wait in their places. Of those that do not
-- keep their places, it looks at the first 4096.
local function gate_begun(group)
  local index, kept, pages = queue_delayed_set(11), member_make(group, MEMBER_PLACE, '', MEMBER_KEPT), 0
  local begun = redis.call('ZLEXCOUNT', index, '[' .. kept, '(' .. kept .. '\255')
  -- Before these are those that were due at the epoch.
  for _, range in ipairs({ { group .. '\0', kept }, { kept .. '\255', group .. '\0' .. MEMBER_PARKED } }) do
    local last, to = unpack(range)
    while last and pages < 16 do
      local found = redis.call('ZRANGE', index, '(' .. last, '(' .. to, 'BYLEX', 'LIMIT', '0', '256')
      begun, last, pages = begun + #found - #gate_new(group, found, 256), found[256], pages + 1
    end
  end
  return begun
end

-- Returns how many messages of a group may be delayed or leased: those that have begun keep their places; of others none while the
-- gate is closed, and one at a time where there is a rate, so that no claim meets many that it may not give.
local function gate_places(group)
  local opens, prefix = gate_read(group), group .. '\0'
  if opens and redis.call('ZLEXCOUNT', queue_delayed_set(11), '[' .. prefix .. MEMBER_PARKED, '(' .. prefix .. '\255') > 0 then
    redis.call('ZADD', queue_delayed_set(13), opens, group)
  end
  local more = opens and 0 or queue_priorities.limits.group_interval > 0 and 1
  return more and math.min(queue_places, more + gate_begun(group)) or queue_places
end

-- Notes the groups whose gates have opened, and forgets some gates that say nothing any more.
local function gate_open()
  if session_record and #session_record >= 16 and select(2, struct.unpack('<dd', session_record)) > clock_now then
    -- The clock was set back.
    redis.call('ZUNIONSTORE', queue_delayed_set(13), 1, queue_delayed_set(13), 'WEIGHTS', 0)
  end
  for _, group in ipairs(redis.call('ZRANGEBYSCORE', queue_delayed_set(13), '-inf', clock_now, 'LIMIT', 0, 256)) do
    redis.call('ZREM', queue_delayed_set(13), group)
    group_changed[group] = true
  end
  for _, one in ipairs(redis.call('HRANDFIELD', queue_delayed_set(12), 4)) do
    local shut, at = gate_read(one)
    redis.call('HDEL', queue_delayed_set(12), not shut and at + queue_priorities.limits.group_slack <= clock_now and one or '')
  end
end
