-- Included where a message's group is looked for, after record.lua and queue.lua.
--
-- The set `groups` is the index of all messages with a group. All its scores are 0, so that it is in the order of its bytes. A
-- member is the group, a byte 0, a kind, the due time (8 bytes, big endian), and the id:
--     1  has a place: it is delayed or leased. One that has failed and keeps its place has a time that no message has, until it ends
--     2  is parked
-- So a claim that gives changes nothing in it. A message with a place was never begun if it is delayed with the time of its member.
local MEMBER_PLACE, MEMBER_PARKED, MEMBER_KEPT = '1', '2', struct.unpack('>d', '\0\0\0\0\0\0\0\1')

local function member_make(group, kind, id, due)
  return group .. '\0' .. kind .. struct.pack('>d', due) .. id
end

-- Returns its parts: the kind, the due time, and the id; no time if others made it, and made it too short.
local function member_parts(member, group)
  local due = #member > #group + 10 and struct.unpack('>d', member, #group + 3)
  return string.sub(member, #group + 2, #group + 2), due or nil, string.sub(member, #group + 11)
end

-- Returns the group in a stored message, see message.lua, and where its body begins; nil if it has no group.
local function member_stored(bytes)
  if bytes and #bytes > 17 and string.byte(bytes, 8) >= 128 then
    local length = string.byte(bytes, 17)
    local group = string.sub(bytes, 18, 17 + length)
    if length > 0 and #group == length and not string.find(group, '\0', 1, true) then
      return group, 18 + length
    end
  end
end

-- Returns the group in a record; nil if it has none, or is that of a dead letter, which has no order.
local function member_of_record(bytes)
  local stored = #bytes >= RECORD_LENGTH and string.byte(bytes, 4) or 0
  if stored >= RECORD_GROUP and stored % RECORD_RUN < RECORD_DEAD then
    local group = string.sub(bytes, RECORD_LENGTH + 1, (string.find(bytes, '\n', RECORD_LENGTH + 1, true) or 1) - 1)
    return group ~= '' and not string.find(group, '\0', 1, true) and group or nil
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
