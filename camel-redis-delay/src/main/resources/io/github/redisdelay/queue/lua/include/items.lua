-- Included in commands whose calls carry the requests of many callers: the items of a call.
--
-- The items stand one after the other behind the head, each with all of its arguments. Or they are packed, because an argument
-- costs Redis and its client as much as 50 bytes. Then the argument behind the head has, in struct '<', all that is short:
--     a byte 0, with which no item that is not packed begins; 'I2' the number of items; and 'I4' for each argument of an item:
--         4 * length + 0   all items have the same value, of so many bytes
--         4 * length + 1   each value has so many bytes
--         2                values with different lengths
--         3                the values are arguments of their own, behind this one. A client does so with long values, because Lua
--                          reads each byte of a text once more to find equal ones
--     then the value, the values, or 'I4' the length of each and the values, of one argument of the items after the other

-- Reads the items: returns their number and, for each argument of an item, the list of its values. Fails unless there are 1
-- to 256.
local function items_read(head, width, what)
  local arguments = ARGV -- a local is read faster
  local text = arguments[head + 1]
  local last, at = head + 1, 4 + 4 * width
  local count, forms = (#arguments - head) / width, nil
  if text and string.byte(text) == 0 then
    forms = #text < at - 1 and { 0 } or { struct.unpack('<I2' .. string.rep('I4', width), text, 2) }
    count = forms[1]
  end
  local whole = count >= 1 and count <= 256 and count % 1 == 0
  local columns = {}
  for c = 1, whole and width or 0 do
    local form, values = forms and forms[c + 1], {}
    if not forms then
      local from = head - width + c
      for i = 1, count do
        values[i] = arguments[from + width * i]
      end
    elseif form % 4 == 0 then
      local value = string.sub(text, at, at + form / 4 - 1)
      for i = 1, count do
        values[i] = value
      end
      at = at + form / 4
    elseif form % 4 == 1 and form > 1 and at + (form - 1) / 4 * count <= #text + 1 then
      local length = (form - 1) / 4
      local each = 'c' .. length
      values = { struct.unpack(string.rep(each, count), text, at) }
      values[count + 1] = nil -- where it has stopped
      at = at + length * count
    elseif form == 2 and at + 4 * count <= #text + 1 then
      local lengths = at
      at = at + 4 * count
      for i = 1, count do
        local length = struct.unpack('<I4', text, lengths + 4 * i - 4)
        values[i] = string.sub(text, at, at + length - 1)
        at = at + length
      end
    elseif form == 3 then
      values = { unpack(arguments, last + 1, last + count) }
      last = last + count
    else
      whole = false
    end
    columns[c] = values
  end
  if not whole or (forms and (at ~= #text + 1 or last ~= #arguments)) then
    error('REDISDELAY argument: number of ' .. what)
  end
  return count, columns
end
