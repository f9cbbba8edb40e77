-- Included where state records are read or written.
--
-- state: id -> struct '<BBBBI4c16dd' and bytes
--     version (1), deliveries lost in a row by an ended lease, why it came again (0 did not, 1 failed, 2 lease ended,
--     3 released), priority (0 to 9; of a dead letter 16 more), attempts, claim id (zeros: not held), due time of this
--     delivery, due time of the first one, then what the last failure left (bytes of the client's)
local RECORD = '<BBBBI4c16dd'
local RECORD_LENGTH = 40
local NO_CLAIM = '\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'

-- Dead letters wait in one set whatever their priority, and keep it for when they are redriven.
local DEAD = 16

-- No more attempts are counted: with one on top the number still fits into 32 bits with a sign, as its readers have it.
local MAX_ATTEMPTS = 2147483646

-- The record as a table; one that is missing or not readable counts as a message of this priority that was never
-- delivered.
local function read_record(bytes, due, priority)
  if bytes and #bytes >= RECORD_LENGTH and string.byte(bytes, 1) == 1 then
    local _, lost, reason, stored, attempts, claim, this_due, first_due = struct.unpack(RECORD, bytes)
    -- Times that no script wrote would make a write fail that comes too late to fail.
    if not (this_due >= 0 and this_due <= MAX_EXACT and first_due >= 0 and first_due <= MAX_EXACT) then
      this_due, first_due = due, due
    end
    if stored % DEAD <= 9 and stored < 2 * DEAD then
      priority = stored
    end
    return { lost = lost, reason = reason, priority = priority, attempts = math.min(attempts, MAX_ATTEMPTS), claim = claim,
      due = this_due, first_due = first_due, failure = string.sub(bytes, RECORD_LENGTH + 1) }
  end
  return { lost = 0, reason = 0, priority = priority, attempts = 0, claim = NO_CLAIM, due = due, first_due = due, failure = '' }
end

local function write_record(r)
  return struct.pack(RECORD, 1, r.lost, r.reason, r.priority, r.attempts, r.claim, r.due, r.first_due) .. r.failure
end

-- The set in which a message with this record waits.
local function waiting_priority(record)
  return record.priority < DEAD and record.priority or 0
end

-- Whether a message with this state record is held under this claim id, if it is leased.
local function claimed_by(bytes, claim)
  return bytes and #bytes >= RECORD_LENGTH and string.sub(bytes, 9, 24) == claim
end

-- Whether the message is leased under this claim id. A lease that has ended and that nobody claimed still counts.
local function holds(leased, state, id, claim)
  if not redis.call('ZSCORE', leased, id) then
    return false
  end
  local bytes = redis.call('HGET', state, id)
  return claimed_by(bytes, claim), bytes
end

-- The same for several: for each id whether it is held under the claim id with the same index, and the state records.
local function which_are_held(leased, state, ids, claims)
  local scores = redis.call('ZMSCORE', leased, unpack(ids))
  local records = redis.call('HMGET', state, unpack(ids))
  local held = {}
  for i = 1, #ids do
    held[i] = scores[i] and claimed_by(records[i], claims[i])
  end
  return held, records
end
