-- Included where recurring schedules are stored and their runs end, after record.lua. A recurring schedule is a message that is
-- never finished: after a run it is delayed again, until the next time of its rule.
--
-- Its record has RECORD_RUN in the priority, and before what the last failure left a line: the first time of a rule that was
-- stored during a run, else 0; how many runs were given up, '@', the time of the last one, '@', and for which time the run was
-- that ended last; the rule, in its client's text; with a space between them. The dead letter of a run has the line, too; a run
-- that was redriven has it without a rule, and is no schedule.
-- A client knows the rule, and Redis knows the time. So a call brings a line with the next times of the rule, one with the rule,
-- and then other bytes.

-- Reads what a call brings: returns the times, the rule and the other bytes.
local function run_read(text, i)
  local times, rule, rest = string.match(text, '^(%d[%d ]*)\n([^\n]+)\n(.*)$')
  if not times then
    error('REDISDELAY argument: rule of item ' .. i)
  end
  return times, rule, rest
end

-- Returns the first time that is later than another one. If none is, the last: missed times become one run, at once.
local function run_later(times, than)
  local time = -1
  for digits in string.gmatch(times, '%d+') do
    time = time > than and time or math.min(digits, CALL_MAX_EXACT)
  end
  return time
end

-- That line: the first time of a new rule, what it says of earlier runs, two parts of that, and the rule.
local RUN_LINE = '^(%d+) ((%d+)@(%d+)@%d+) (.+)\n$'

-- Returns the record of a run that is due at a time.
local function run_record(due, priority, past, rule, failure, group)
  local record = record_read(nil, due, priority)
  record.failure, record.group = '0 ' .. past .. ' ' .. rule .. '\n' .. failure, group
  return record_write(record)
end
