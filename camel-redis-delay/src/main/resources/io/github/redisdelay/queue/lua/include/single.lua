-- Included on top of schedule.lua: stores a single message for half of the time, if nothing about it or its queue is special.
-- It stores the message, or leaves all as it is: then the rest of schedule.lua stores it, or says what is wrong with it.
--
-- It stands before all other includes, because to make their functions takes as long as all that it does.

if #ARGV == 8 and #ARGV[7] == 0 then
  local id, words, sequence, due = ARGV[4], ARGV[5], tonumber(ARGV[2]), tonumber(ARGV[6])
  local is_delay = words == 'after reject' or words == 'after ignore' or words == 'after replace'
  local is_time = words == 'at reject' or words == 'at ignore' or words == 'at replace'
  local time = redis.call('TIME')
  local now = time[1] * 1000000 + time[2]
  local record = redis.call('HGET', KEYS[5], ARGV[1])
  local last, before = 0, 0
  if record and #record >= 16 then
    last, before = struct.unpack('<dd', record)
  end
  -- A new call of a session that has made its preflight in this hour; a queue that has no config and remembers no ids; an id that
  -- is not leased. If it is in use otherwise, HSETNX tells.
  local usual = #id > 0 and due and due >= 0 and due % 1 == 0 and (is_delay or is_time) and sequence and sequence % 1 == 0
    and last >= 1 and sequence > last and sequence <= 9007199254740991
    and math.floor(before / 3600000000) == math.floor(now / 3600000000)
    and redis.call('EXISTS', KEYS[6], KEYS[7]) == 0 and not redis.call('ZSCORE', KEYS[3], id)
  due = usual and is_delay and now + due or due
  if usual and due <= 9007199254740991 then
    local first = tonumber(redis.call('ZRANGE', KEYS[2], '0', '0', 'WITHSCORES')[2])
    local promises
    if not first or due < first or first < now - 25000 then
      -- As wakeup_cover_earlier does.
--@include wakeup.lua
      promises = wakeup_cover(wakeup_waiters, ARGV[3], math.min(due, first or due), now)
    end
    -- The first write: refused when memory is full.
    if redis.call('HSETNX', KEYS[1], id, struct.pack('<dd', now, due) .. ARGV[8]) == 1 then
      -- A record that eviction has left behind must not be about the new message: its claim id would finish that.
      if redis.call('HEXISTS', KEYS[4], id) == 1 then
        redis.call('HDEL', KEYS[4], id)
      end
      redis.call('ZADD', KEYS[2], due, id)
      local result = struct.pack('<dBd', now, 1, due)
      redis.call('HSET', KEYS[5], ARGV[1], struct.pack('<dd', sequence, now) .. result)
      if promises and #promises > 0 then
        redis.call('ZADD', KEYS[8], 'XX', unpack(promises))
      end
      return result
    end
  end
end
