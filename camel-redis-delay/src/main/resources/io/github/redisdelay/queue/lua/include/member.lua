-- Included where a message's group is looked for, after record.lua and queue.lua.
--
-- The set `groups` is the index of all messages with a group. All its scores are 0, so that it is in the order of its bytes. A
-- member is the group, a byte 0, a kind, of those that wait the due time (8 bytes, big endian), and the id:
--     1  has a place: it is leased, or it has failed and keeps its place while it is delayed
--     2  is delayed, and not parked
--     3  is parked
local MEMBER_PLACE, MEMBER_DELAYED, MEMBER_PARKED = '1', '2', '3'

local function member_make(group, kind, id, due)
  return group .. '\0' .. kind .. (kind == MEMBER_PLACE and '' or struct.pack('>d', due)) .. id
end

-- Returns its parts: the kind; the id; and of those that wait the due time, and both in the bytes that are its order.
local function member_parts(member, group)
  local kind, order = string.match(string.sub(member, #group + 2), '^(.)(.*)$')
  local waits = kind ~= MEMBER_PLACE and #(order or '') > 8
  return { member = member, kind = kind, order = order, id = waits and string.sub(order, 9) or order or '',
    due = waits and struct.unpack('>d', order) or nil }
end

-- Returns the group in a stored message, see message.lua, and where its body begins; nil if it has no group.
local function member_stored(bytes)
  if bytes and #bytes > 17 and string.byte(bytes, 8) >= 128 then
    local length = string.byte(bytes, 17)
    local group = string.match(string.sub(bytes, 18, 17 + length), '^[^%z]+$')
    if group and #group == length then
      return group, 18 + length
    end
  end
end

-- Returns the group in a record; nil if it has none, or is that of a dead letter, which has no order.
local function member_of_record(bytes)
  local stored = #bytes >= RECORD_LENGTH and string.byte(bytes, 4) or 0
  if stored >= RECORD_GROUP and stored % RECORD_RUN < RECORD_DEAD then
    return string.match(bytes, '^([^\n%z]+)\n', RECORD_LENGTH + 1)
  end
end

-- Returns the group of a message, nil if it has none; and again if its state record has it, as that of a large one does.
local function member_group(id)
  local record = redis.call('HGET', key_state, id)
  local group = record and #record >= RECORD_LENGTH and member_of_record(record)
  return group or member_stored(redis.call('HGET', key_messages, id)), group
end

-- Notes that a client must know a feature.
local function member_need(feature)
  if not string.find(queue_needs or '', feature, 1, true) then
    queue_needs = (queue_needs and queue_needs .. ' ' or '') .. feature
    redis.call('HSET', key_config, 'needs', queue_needs)
  end
  redis.call('PERSIST', key_config)
end
