-- Included on top of schedule.lua: stores messages for half of the time or less, if nothing about them or their queue is special.
-- It stores all of them, or leaves all as it is: then the rest of schedule.lua stores them, or says what is wrong.
--
-- It stands before all other includes, because to make their functions takes as long as all that it does. So it reads the items
-- itself: a single one, or packed ones (see items.lua) with the same words, no claim ids, each body an argument, ids of one length
-- that are no arguments of their own, and the same time or times of one length.

do
  local text = ARGV[4]
  local count, word, due, ids, times
  if #ARGV == 8 and #ARGV[7] == 0 and (string.byte(text) or 0) ~= 0 then
    count, word, due, ids = 1, ARGV[5], tonumber(ARGV[6]), text
  elseif text and #text > 23 and string.byte(text) == 0 then
    local items, id_form, word_form, time_form, claim_form, body_form = struct.unpack('<I2I4I4I4I4I4', text, 2)
    local each = time_form % 4 == 1
    local id_length, time_length = (id_form - 1) / 4, (time_form - (each and 1 or 0)) / 4
    local words_at = 24 + id_length * items
    local times_at = words_at + word_form / 4
    if items > 1 and items <= 256 and #ARGV == 4 + items and id_form % 4 == 1 and id_length > 0 and claim_form == 0 and body_form == 3
        and time_length >= 1 and time_length % 1 == 0 and #text == times_at + time_length * (each and items or 1) - 1 then
      count, word = items, string.sub(text, words_at, times_at - 1)
      local each_id, each_time = 'c' .. id_length, 'c' .. time_length
      ids = { struct.unpack(string.rep(each_id, count), text, 24) }
      ids[count + 1] = nil -- where it has stopped
      if each then
        times = { struct.unpack(string.rep(each_time, count), text, times_at) }
      else
        due = tonumber(string.sub(text, times_at))
      end
    end
  end
  local is_delay = word == 'after reject' or word == 'after ignore' or word == 'after replace'
  if is_delay or word == 'at reject' or word == 'at ignore' or word == 'at replace' then
    local sequence, time = tonumber(ARGV[2]), redis.call('TIME')
    local now = time[1] * 1000000 + time[2]
    local record = redis.call('HGET', KEYS[5], ARGV[1])
    local last, before = 0, 0
    if record and #record >= 16 then
      last, before = struct.unpack('<dd', record)
    end
    -- A new call of a session that has made its preflight in this hour; a queue that has no config and remembers no ids.
    local plain = sequence and sequence % 1 == 0 and last >= 1 and sequence > last and sequence <= 9007199254740991
      and math.floor(before / 3600000000) == math.floor(now / 3600000000) and redis.call('EXISTS', KEYS[6], KEYS[7]) == 0
    local scores, bytes, answers
    if plain and count == 1 then
      -- The id is not leased. If it is in use otherwise, HSETNX tells.
      plain = due and due >= 0 and due % 1 == 0 and not redis.call('ZSCORE', KEYS[3], ids)
      due = plain and is_delay and now + due or due
      plain = plain and due <= 9007199254740991
    elseif plain then
      local arguments, known, same = ARGV, {}, due
      due, scores, bytes, answers = math.huge, {}, {}, { now }
      for i = 1, count do
        local id, each = ids[i], same or times and tonumber(times[i])
        if known[id] or not each or each < 0 or each % 1 ~= 0 then
          plain = false
          break
        end
        known[id] = true
        if is_delay then
          each = now + each + (i - 1)
        end
        if each < due then
          due = each
        end
        plain = plain and each <= 9007199254740991
        local j = 2 * i
        scores[j - 1], scores[j] = each, id
        bytes[j - 1], bytes[j] = id, struct.pack('<dd', now, each) .. arguments[4 + i]
        answers[j], answers[j + 1] = 1, each
      end
      -- None of the ids is leased, nor delayed.
      for i = 2, plain and 3 or 0 do
        local found = redis.call('ZMSCORE', KEYS[i], unpack(ids))
        for j = 1, count do
          if found[j] then
            plain = false
          end
        end
      end
    end
    if plain then
      local first = tonumber(redis.call('ZRANGE', KEYS[2], '0', '0', 'WITHSCORES')[2])
      local promises, result
      if not first or due < first or first < now - 25000 then
        -- As wakeup_cover_earlier does.
--@include wakeup.lua
        promises = wakeup_cover(wakeup_waiters, ARGV[3], math.min(due, first or due), now)
      end
      -- A record that eviction has left behind must not be about the new message: its claim id would finish that. If there is none,
      -- the first write is one that is refused when memory is full.
      if count > 1 then
        local records = redis.call('HMGET', KEYS[4], unpack(ids))
        for i = 1, count do
          if records[i] then
            redis.call('HDEL', KEYS[4], ids[i])
          end
        end
        redis.call('HSET', KEYS[1], unpack(bytes))
        redis.call('ZADD', KEYS[2], unpack(scores))
        result = struct.pack('<d' .. string.rep('Bd', count), unpack(answers))
      elseif redis.call('HSETNX', KEYS[1], ids, struct.pack('<dd', now, due) .. ARGV[8]) == 1 then
        if redis.call('HEXISTS', KEYS[4], ids) == 1 then
          redis.call('HDEL', KEYS[4], ids)
        end
        redis.call('ZADD', KEYS[2], due, ids)
        result = struct.pack('<dBd', now, 1, due)
      end
      if result then
        redis.call('HSET', KEYS[5], ARGV[1], struct.pack('<dd', sequence, now) .. result)
        if promises and #promises > 0 then
          redis.call('ZADD', KEYS[8], 'XX', unpack(promises))
        end
        return result
      end
    end
  end
end
