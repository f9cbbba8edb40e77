-- Included where dead letters come and go.
--
-- A queue of dead letters has an index: a sorted set in which all scores are 0, so that its members are in the order of
-- their bytes. A member is the id of the message, a byte 0, and the digits of the dead letter's id. So those of one message
-- are neighbours, the oldest first; and as no id has a byte 0, nothing else is among them.

-- Returns the message's id and the digits of a dead letter's id; nil if it is none.
local function index_parts(dead_id)
  return string.match(dead_id, '^(.+)@(%d+)$')
end

-- Returns the member for a dead letter; nil if its id is not one that settle.lua makes.
local function index_member(dead_id)
  local id, digits = index_parts(dead_id)
  return id and #digits <= 16 and string.byte(digits) ~= 48 and id .. '\0' .. digits or nil
end

-- Returns the members for some of these ids; those of messages have none.
local function index_members(ids)
  local members = {}
  for i = 1, #ids do
    members[#members + 1] = index_member(ids[i])
  end
  return members
end

-- Removes the entries of dead letters; ids of messages have none.
local function index_forget(index, ids)
  local members = redis.call('ZCARD', index) > 0 and index_members(ids) or {}
  if #members > 0 then
    redis.call('ZREM', index, unpack(members))
  end
end
