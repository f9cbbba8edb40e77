-- Included where messages are looked at, after session.lua, record.lua and queue.lua.
--
-- KEYS  1 to 16 see queue.lua  17 consumers

local consumers = KEYS[17]
local names = {}

-- The name of the consumer that leased a message, or nothing if it is not known.
local function holder(record)
  if record.claim == NO_CLAIM then
    return ''
  end
  local id = string.sub(record.claim, 1, 8)
  if not names[id] then
    local found = redis.call('HGET', consumers, id)
    names[id] = found and string.sub(found, 9) or ''
  end
  return names[id]
end

-- Appends what is told of a message: id, struct '<d' score, priority in digits, state record, holder.
local function tell(reply, id, score, priority, leased_now)
  local record = read_record(redis.call('HGET', state, id), score, priority)
  local n = #reply
  reply[n + 1] = id
  reply[n + 2] = struct.pack('<d', score)
  reply[n + 3] = string.format('%d', record.priority % DEAD)
  reply[n + 4] = write_record(record)
  reply[n + 5] = leased_now and holder(record) or ''
end
