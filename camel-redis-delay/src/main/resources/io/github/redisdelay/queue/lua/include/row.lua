-- Included where messages are looked at, after call.lua, clock.lua, record.lua, queue.lua, place.lua and member.lua.

local row_names = {}

-- Returns the name of the consumer that leased a message, or nothing if it is not known.
local function row_holder(record)
  if record.claim == RECORD_NO_CLAIM then
    return ''
  end
  local id = string.sub(record.claim, 1, 8)
  if not row_names[id] then
    local found = redis.call('HGET', key_consumers, id)
    row_names[id] = found and string.sub(found, (string.find(found, ' ', 9, true) or 8) + 1) or ''
  end
  return row_names[id]
end

-- Returns until when a group is paused, 0 if it is not.
local function row_paused(group)
  local gate = group and queue_priorities.limits and redis.call('HGET', queue_delayed_set(12), group)
  local ends = gate and #gate == 24 and struct.unpack('<d', gate, 17) or 0
  return ends > clock_now and ends or 0
end

-- Appends the five elements of a row: id, struct '<d' score, priority in digits, state record, holder.
local function row_append(reply, id, score, priority, is_leased)
  local record = record_read(redis.call('HGET', key_state, id), score, priority, id)
  local body = (record.first_due == 0 or queue_places) and redis.call('HGET', key_messages, id)
  record.first_due = record.first_due == 0 and record_time(body, 9) or record.first_due
  record.group = record.group or queue_places and (member_stored(body)) or nil
  local n = #reply
  reply[n + 1], reply[n + 2] = id, struct.pack('<d', score)
  reply[n + 3], reply[n + 4] = string.format('%d', record.priority % RECORD_DEAD), record_write(record)
  reply[n + 5] = is_leased and row_holder(record) or ''
end

-- Appends the row of a message that is delayed, parked or leased, and which of these it is. Returns false if it is none.
local function row_append_found(reply, id)
  local score, priority = place_find(id)
  local lease = not score and redis.call('ZSCORE', key_leased, id)
  if score or lease then
    row_append(reply, id, tonumber(score or lease), priority or 0, lease)
    -- One that is parked before it is due is delayed for others.
    reply[#reply + 1] = lease and 'leased' or not priority and tonumber(score) <= clock_now and 'parked' or 'delayed'
  end
  return score or lease
end
