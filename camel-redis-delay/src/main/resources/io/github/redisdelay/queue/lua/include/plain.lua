-- Included on top of schedule.lua: stores messages for half of the time or less, if nothing about them or their queue is special.
-- It stores all of them, or leaves all as it is: then the rest of schedule.lua stores them, or says what is wrong.
--
-- It stands before the other includes, because to make their functions takes as long as all that it does. A table costs as much as
-- a function, so a lone message goes without.

local plain_no = session_stored or session_preflight_due or redis.call('EXISTS', key_config, key_seen)
-- Recurring schedules in the queue are nothing special for other messages.
if plain_no == 0 or plain_no == 1 and redis.call('HLEN', key_config) == 1
    and redis.call('HGET', key_config, 'needs') == 'schedules=0.1' then
  local lone, now = #ARGV == 8 and string.byte(ARGV[4]) ~= 0, clock_now
  local count, ids, word, times, time, bodies = 1, ARGV[4], ARGV[5], nil, nil, nil
  if not lone then
--@include packed.lua
    count, ids, times, bodies = packed_count, packed_columns[1], packed_columns[3], packed_columns[5]
    word, time = packed_same[4] == '' and bodies and ids and packed_same[2], tonumber(packed_same[3])
  end
  local is_delay = word == 'after reject' or word == 'after ignore' or word == 'after replace'
  local plain = is_delay or word == 'at reject' or word == 'at ignore' or word == 'at replace'
  -- When the first of them is due.
  local due, scores, fields, answers
  if lone then
    due = tonumber(ARGV[6])
    -- HSETNX finds whether the id is in use otherwise than by a lease.
    plain = plain and due and due >= 0 and due % 1 == 0 and ids ~= '' and ARGV[7] == ''
      and not redis.call('ZSCORE', key_leased, ids)
    due = plain and is_delay and now + due or due
    plain = plain and due <= CALL_MAX_EXACT
  elseif plain then
    local known = {}
    due, scores, fields, answers = math.huge, {}, {}, { now }
    for i = 1, count do
      local id, each = ids[i], time or times and tonumber(times[i])
      if id == '' or known[id] or not each or each < 0 or each % 1 ~= 0 then
        plain = false
        break
      end
      known[id] = true
      each = is_delay and now + each + (i - 1) or each
      plain = plain and each <= CALL_MAX_EXACT
      if each < due then
        due = each
      end
      scores[2 * i - 1], scores[2 * i] = each, id
      fields[2 * i - 1], fields[2 * i] = id, struct.pack('<dd', now, each) .. bodies[i]
      answers[2 * i], answers[2 * i + 1] = 1, each
    end
    local leased = plain and redis.call('ZMSCORE', key_leased, unpack(ids))
    local delayed = plain and redis.call('ZMSCORE', key_delayed, unpack(ids))
    for i = 1, plain and count or 0 do
      plain = plain and not leased[i] and not delayed[i]
    end
  end
  if plain then
    local first, promises, result = tonumber(redis.call('ZRANGE', key_delayed, '0', '0', 'WITHSCORES')[2]), nil, nil
    if not first or due < first or first < now - 25000 then
      -- As wakeup_cover_earlier does.
--@include wakeup.lua
      promises = wakeup_cover(wakeup_waiters, ARGV[3], math.min(due, first or due), now)
    end
    -- The first write is one that is refused when memory is full. A record that eviction has left behind must not be about the
    -- new message: its claim id would finish that.
    if not lone then
      redis.call('HSET', key_messages, unpack(fields))
      redis.call('HDEL', key_state, unpack(ids))
      redis.call('ZADD', key_delayed, unpack(scores))
      result = struct.pack('<d' .. string.rep('Bd', count), unpack(answers))
    elseif redis.call('HSETNX', key_messages, ids, struct.pack('<dd', now, due) .. ARGV[8]) == 1 then
      redis.call('HDEL', key_state, ids)
      redis.call('ZADD', key_delayed, due, ids)
      result = struct.pack('<dBd', now, 1, due)
    end
    if result then
      redis.call('HSET', key_sessions, ARGV[1], struct.pack('<dd', session_sequence, now) .. result)
      if promises and #promises > 0 then
        redis.call('ZADD', key_waiters, 'XX', unpack(promises))
      end
      return result
    end
  end
end
