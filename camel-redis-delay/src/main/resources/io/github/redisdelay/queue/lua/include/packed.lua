-- Included by items.lua, and on top of schedule.lua: reads the items of a call. LuaScript puts before each script how many
-- arguments its head has, and each of its items.
--
-- The items stand one after the other behind the head, each with all of its arguments. Or they are packed, because an argument
-- costs Redis and its client as much as 50 bytes. Then the argument behind the head has, in struct '<', all that is short:
--     a byte 0, with which no item that is not packed begins; 'I2' the number of items; and 'I4' for each argument of an item:
--         4 * length + 0   all items have the same value, of so many bytes
--         4 * length + 1   each value has so many bytes
--         2                the values are arguments of their own, behind this one: values of different lengths, and long ones,
--                          because Lua reads each byte of a text once more to find equal ones
--     then the value, or the values, of one argument of the items after the other

-- The number of items, 1 to 256, and for each argument of an item the list of its values, or the one value that all have.
local packed_count, packed_columns, packed_same = (#ARGV - ITEMS_HEAD) / ITEMS_WIDTH, {}, {}
do
  local arguments, text = ARGV, ARGV[ITEMS_HEAD + 1] -- a local is read faster
  local last, at = ITEMS_HEAD + 1, 4 + 4 * ITEMS_WIDTH
  local forms
  if text and string.byte(text) == 0 then
    forms = #text < at - 1 and { 0 } or { struct.unpack('<I2' .. string.rep('I4', ITEMS_WIDTH), text, 2) }
    packed_count = forms[1]
  end
  local count = packed_count
  local whole = count >= 1 and count <= 256 and count % 1 == 0
  for c = 1, whole and ITEMS_WIDTH or 0 do
    local form, values = forms and forms[c + 1], nil
    local length = form and (form - form % 4) / 4
    if not forms then
      local from = ITEMS_HEAD - ITEMS_WIDTH + c
      values = {}
      for i = 1, count do
        values[i] = arguments[from + ITEMS_WIDTH * i]
      end
    elseif form % 4 == 0 then
      packed_same[c], at = string.sub(text, at, at + length - 1), at + length
    elseif form % 4 == 1 and length > 0 and at + length * count <= #text + 1 then
      local each = 'c' .. length
      values = { struct.unpack(string.rep(each, count), text, at) }
      values[count + 1] = nil -- where it has stopped
      at = at + length * count
    elseif form == 2 then
      values, last = { unpack(arguments, last + 1, last + count) }, last + count
    else
      whole = false
    end
    packed_columns[c] = values
  end
  if not whole or (forms and (at ~= #text + 1 or last ~= #arguments)) then
    error('REDISDELAY argument: number of items')
  end
end
