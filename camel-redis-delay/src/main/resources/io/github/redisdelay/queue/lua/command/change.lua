-- Cancels messages, changes the time at which they are due, pauses the queue or a group, or limits the queue or its groups.
--
-- KEYS  messages, delayed, leased, state, sessions, config, waiters, seen, index (the one that these messages are in if they
--       are dead letters; see index.lua), dead:index, dead:messages; priorities
-- ARGV  1 session  2 sequence  3 the queue's base key
--       then, as items.lua reads them, three for each message, at most 256:
--         id; of pause, resume and the limits nothing; of pause-group and resume-group the group
--         cancel; cancel-delayed, unless it is leased; reschedule-after, due after a delay; reschedule-at, due at a time;
--           promote, due at a time unless it is due earlier; pause or resume, the queue; pause-group-after, for so long, pause-group-at,
--           until a time, or resume-group; limit-strict or limit-relaxed, the places
--           of a group: a failed message keeps its one, or lets others pass; limit-rate or limit-group-rate, the rate of the queue
--           or of each group, as `config` has it, see queue.lua; limit-concurrency, the places of the queue
--         for reschedule and pause-group the delay or the time, in microseconds; so for promote, where 0 is now; of a limit
--         how many places, 0 for any number, or a rate, 0 for none; else 0
-- Reply bytes: struct 'd' time of the call, then for each message 'Bd'
--         where it was: 0 nowhere  1 delayed  2 leased  3 delayed, and its new due time is beyond the exact range:
--           unchanged  4 nowhere, but finished lately  21 to 120: dead, and 20 less is the number of its dead letters, of
--           which 100 are counted at most; of pause and resume whether the queue or group was paused: 0 or 1; of a limit whether it
--           was relaxed, and 2 more if groups may not be in line with it: a client must walk over them
--         its new due time (0: none); if it is dead, the time in the id of the newest of its dead letters; of a limit the one before; of a
--         group until when it was paused
-- Errors  argument, config, keys, needs, partitions, superseded: nothing is changed
-- Cost  O(log N) for each message
--
-- A cancel removes the message in any state, and frees an id that was finished lately. A new due time is given only to a
-- delayed message. With it a message with a group gives up its place, but promote leaves it that. A message that is dead is told
-- of and left alone: other commands change dead letters.
-- There are two ways: cancel.lua cancels messages about which nothing is special, all together; the rest of this file goes through
-- the items one after the other.

--@include call.lua
--@include clock.lua
--@include items.lua
--@include session.lua
--@include cancel.lua
--@include check.lua
--@include effect.lua
--@include record.lua
--@include queue.lua
--@include pause.lua
--@include place.lua
--@include member.lua
--@include page.lua
--@include seen.lua
--@include index.lua
--@include dead.lua
--@include wakeup.lua
--@include group.lua

-- Actions, and whether they give a new due time.
local ACTIONS = { cancel = false, ['cancel-delayed'] = false, ['reschedule-after'] = true, ['reschedule-at'] = true,
  promote = true }
local OF_QUEUE = { pause = true, resume = true, ['limit-strict'] = true, ['limit-relaxed'] = true, ['limit-rate'] = true,
  ['limit-group-rate'] = true, ['limit-concurrency'] = true }
local OF_GROUP = { ['pause-group-after'] = true, ['pause-group-at'] = true, ['resume-group'] = true }
local LIMITS = { ['limit-rate'] = { 'rate', '' }, ['limit-group-rate'] = { 'groupRate', '' },
  ['limit-concurrency'] = { 'concurrency', 'freed' } }
local NOWHERE, DELAYED, LEASED, BEYOND_RANGE, FINISHED, DEAD_AND = 0, 1, 2, 3, 4, 20

if session_stored then
  return session_stored
end
local now, ids, actions, times = clock_now, unpack(items_columns)
effect_begin()
queue_read_config()

local dues, earliest, resumed, limited = {}, math.huge
for i = 1, items_count do
  local id, action = ids[i], actions[i]
  local of_group = OF_GROUP[action] and #id > 0 and #id <= 200 and not string.find(id, '[%c%z]')
  if (id == '' and OF_QUEUE or ACTIONS)[action] == nil and not of_group then
    error('REDISDELAY argument: message ' .. i)
  end
  local due = check_integer(times[i], 0, CALL_MAX_EXACT, 'due time of message ', i)
  if action == 'reschedule-after' or action == 'pause-group-after' or (action == 'promote' and due == 0) then
    due = now + due + (i - 1)
  end
  dues[i] = due
  if ACTIONS[action] and not queue_places and due < earliest and due <= CALL_MAX_EXACT and place_find(id) then
    earliest = due
  end
  resumed = resumed or action == 'resume'
  queue_need_priorities(OF_GROUP[action] or LIMITS[action] and (due > 0 or queue_priorities.limits))
end
local before = (queue_places or queue_priorities.limits) and queue_first_due()
local promises = resumed and wakeup_cover(wakeup_waiters, ARGV[3], now, now)
  or earliest < math.huge and wakeup_cover_earlier(ARGV[3], earliest, now)

-- Needs no memory: after it, nothing is refused when memory is full.
redis.call('ZREM', key_delayed, '')
wakeup_write(wakeup_waiters, promises)
local reply, gone = { struct.pack('<d', now) }, {}
for i = 1, items_count do
  local id, action = ids[i], actions[i]
  local was, due = 0, 0
  if action == 'limit-strict' or action == 'limit-relaxed' then
    local limit = redis.call('HGET', key_config, 'groupLimit') or '1 limit-strict'
    was, due, resumed = string.find(limit, 'relaxed', 1, true) and 1 or 0, tonumber(string.match(limit, '^%d+')) or 1, true
    was = was + (string.find(limit, 'changed', 1, true) and 2 or 0)
    local changed = dues[i] ~= due and queue_places and ' changed ' .. string.format('%.0f', now)
      or string.match(limit, ' changed.*') or ''
    limit = string.format('%.0f', dues[i]) .. ' ' .. action .. changed
    redis.call('HSET', key_config, 'groupLimit', limit)
    redis.call('HDEL', key_config, limit == '1 limit-strict' and 'groupLimit' or '')
  elseif LIMITS[action] then
    due = tonumber(redis.call('HGET', key_config, LIMITS[action][1])) or 0
    if dues[i] ~= due then
      redis.call('HSET', key_config, LIMITS[action][1], string.format('%.0f', dues[i]))
      redis.call('HDEL', key_config, dues[i] == 0 and LIMITS[action][1] or '', dues[i] == 0 and LIMITS[action][2] or '')
      member_need(CHECK_LIMITS)
      limited = true
    end
  elseif OF_GROUP[action] then
    due = action ~= 'resume-group' and gate_pause(id, math.max(1, math.min(dues[i], CALL_MAX_EXACT)))
      or action == 'resume-group' and queue_priorities.limits and gate_pause(id, 0) or 0
    was = due > 0 and 1 or 0
  elseif id == '' then
    was = queue_paused and 1 or 0
    queue_paused = action == 'pause' and (queue_paused or string.format('%.0f', now))
    redis.call('HSET', key_config, 'paused', queue_paused or '')
    redis.call('HDEL', key_config, queue_paused and '' or 'paused')
  else
    local group, pending, priority = queue_places and member_group(id), place_find(id)
    was = pending and DELAYED or redis.call('ZSCORE', key_leased, id) and LEASED or NOWHERE
    if action == 'cancel' or (action == 'cancel-delayed' and was ~= LEASED) then
      group_leave(group, id)
      redis.call('HDEL', key_messages, id)
      redis.call('HDEL', key_state, id)
      place_remove(id)
      redis.call('ZREM', key_leased, id)
      was = was == NOWHERE and seen_until(id, now) and FINISHED or was
      redis.call('ZREM', key_seen, id)
      gone[#gone + 1] = id
    elseif pending and dues[i] > CALL_MAX_EXACT then
      was = BEYOND_RANGE
    elseif pending then
      due = action == 'promote' and math.min(dues[i], tonumber(pending)) or dues[i]
      local keeps = action == 'promote' and group
        and redis.call('ZSCORE', queue_delayed_set(11), member_make(group, MEMBER_PLACE, id, MEMBER_KEPT))
      group_leave(not keeps and group, id)
      local record = record_read(redis.call('HGET', key_state, id), tonumber(pending), priority or 0, id)
      record.due, record.first_due, record.group = due, record.attempts == 0 and due or record.first_due, group or record.group
      redis.call('HSET', key_state, id, record_write(record))
      redis.call('ZADD', queue_delayed_set(priority or 0), due, id)
      group_put(not keeps and group, id, due, not priority and 0 or nil)
    end
    if (was == NOWHERE or was == FINISHED) and action ~= 'cancel-delayed' then
      local all = dead_find(id)
      if #all > 0 then
        was, due = DEAD_AND + #all, tonumber(all[1])
      end
    end
  end
  reply[i + 1] = struct.pack('<Bd', was, due)
end
if #gone > 0 then
  index_forget(key_index, gone)
  place_drop_priorities()
end
if limited then
  -- Read anew, and for consumers that wait for what was.
  queue_read_config()
  wakeup_write(wakeup_waiters, wakeup_cover(wakeup_waiters, ARGV[3], now, now))
end
group_end(ARGV[3], now, before)
pause_keep(resumed or limited)
return effect_end(table.concat(reply))
