-- Included where state records are read or written, after call.lua.
--
-- state: id -> struct '<BBBBI4c16dd' and bytes
--     version (1), deliveries lost in a row by an expired lease, why it came again (0 it did not, 1 failed, 2 lease expired,
--     3 released), priority (0 to 9; of a dead letter 16 more, of a recurring schedule 32 more, of a message with a group 64
--     more), attempts, claim id (zeros: not held), due time of this delivery, due time of the first one, then what the last failure left (bytes of the client's)
--     The record of a first delivery may end behind the claim id: then both due times are the one in the stored body. So
--     most messages of a claim have the same record, which takes a tenth off the time of a delivery. When it has failed, its first
--     due time is 0, for the one in the stored body, so that no body is read: a sixth of the time of a retry, and more if it is large.
local RECORD_FORMAT = '<BBBBI4c16dd'
local RECORD_LENGTH = 40
local RECORD_BRIEF = 24
local RECORD_NO_CLAIM = '\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'

-- Dead letters wait in one set whatever their priority, and keep it for when they are redriven.
local RECORD_DEAD = 16

-- That of a recurring schedule, or of the dead letter of one of its runs, is so much more: there is a line before the failure then,
-- see run.lua.
local RECORD_RUN = 32

-- That of a message with a group is so much more: the group and a line feed stand before all else that follows the times.
local RECORD_GROUP = 64

-- Attempts are counted up to here: with one more the number still fits into 32 bits with a sign, as its readers have it.
local RECORD_MAX_ATTEMPTS = 2147483646

-- Returns the time at a place of a stored text; nil if there is none, or one that no script wrote: it would make a later write
-- fail.
local function record_time(bytes, at)
  local time = bytes and #bytes >= at + 7 and struct.unpack('<d', bytes, at)
  return time and time >= 0 and time <= CALL_MAX_EXACT and time or nil
end

-- Returns the record as a table. One that is missing counts as a message of this priority that was never delivered. One
-- that is not readable, as that of another version, could hide attempts: it counts as one with the most of them, which
-- consumers take for what it is. `due` is the default due time for records without one; with an id, the stored body has it.
local function record_read(bytes, due, priority, id)
  local r = { lost = 0, reason = 0, priority = priority, attempts = bytes and RECORD_MAX_ATTEMPTS or 0, claim = RECORD_NO_CLAIM,
    due = due, first_due = due, failure = '' }
  if bytes and #bytes >= RECORD_BRIEF and string.byte(bytes, 1) == 1 then
    local _, stored, this, first
    _, r.lost, r.reason, stored, r.attempts, r.claim = struct.unpack('<BBBBI4c16', bytes)
    r.attempts = math.min(r.attempts, RECORD_MAX_ATTEMPTS)
    if #bytes >= RECORD_LENGTH then
      this, first = record_time(bytes, 25), record_time(bytes, 33)
    else
      this = record_time(id and redis.call('HGET', key_messages, id), 9)
      first = this
    end
    if this and first then
      r.due, r.first_due = this, first
    end
    r.failure = string.sub(bytes, RECORD_LENGTH + 1)
    if stored >= RECORD_GROUP then
      stored = stored - RECORD_GROUP
      r.group = string.match(r.failure, '^([^\n%z]+)\n')
      r.failure = r.group and string.sub(r.failure, #r.group + 2) or r.failure
    end
    if stored % RECORD_DEAD <= 9 and stored < 2 * RECORD_RUN then
      r.priority = stored
    end
  end
  return r
end

local function record_write(r)
  local priority = r.priority + (r.group and RECORD_GROUP or 0)
  return struct.pack(RECORD_FORMAT, 1, r.lost, r.reason, priority, r.attempts, r.claim, r.due, r.first_due)
    .. (r.group and r.group .. '\n' or '') .. r.failure
end

-- Returns the priority of the set in which a message with this record waits.
local function record_level(record)
  return record.priority % RECORD_RUN < RECORD_DEAD and record.priority % RECORD_RUN or 0
end

-- Returns the line before the failure: of most messages nothing.
local function record_run(record)
  return record.priority >= RECORD_RUN and string.match(record.failure, '^[^\n]*\n') or ''
end

-- Tells whether a message with this state record is held under this claim id.
local function record_has_claim(bytes, claim)
  return bytes and #bytes >= RECORD_BRIEF and string.sub(bytes, 9, 24) == claim
end

-- Tells whether a message is leased under this claim id, and returns its state record, which alone tells that: see
-- acknowledge.lua. A lease that has expired and that nobody claimed still counts.
local function record_is_held(state, id, claim)
  local bytes = redis.call('HGET', state, id)
  return record_has_claim(bytes, claim), bytes
end
