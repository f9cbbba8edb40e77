-- Included in commands whose calls carry the requests of many callers, after call.lua: the items of a call.
--
-- A few items stand one after the other behind the head, each with all of its arguments. Many are packed, because an argument
-- costs Redis and its client as much as 50 bytes. Then there stand behind the head
--     nothing (the first argument of an item is never empty), the number of items, and for each argument of an item two:
--         nothing, and the value that all items have
--         a length from 1 on, in fewer digits than there are bytes in the next form, and the values in one text, each so long
--         struct 'I4' the length of each value, and the values in one text
--         '*', and nothing: the values are arguments of their own, behind all these. A client does so with long values, because
--         Lua reads each byte of a text once more to find equal ones

-- Reads the items: returns their number and, for each argument of an item, the list of its values. Fails unless there are 1
-- to 256.
local function items_read(head, width, what)
  local arguments = ARGV -- a local is read faster
  local columns = {}
  local count = arguments[head + 1] == '' and tonumber(arguments[head + 2])
  if not count then
    count = call_items(head, width, what)
    for c = 1, width do
      local values, at = {}, head - width + c
      for i = 1, count do
        values[i] = arguments[at + width * i]
      end
      columns[c] = values
    end
    return count, columns
  end
  call_check_items(count, what)
  local last = head + 2 + 2 * width
  local whole = #arguments >= last
  for c = 1, whole and width or 0 do
    local form, texts = arguments[head + 1 + 2 * c], arguments[head + 2 + 2 * c]
    local values = {}
    if form == '' then
      for i = 1, count do
        values[i] = texts
      end
    elseif form == '*' then
      for i = 1, count do
        values[i] = arguments[last + i]
      end
      last = last + count
    elseif #form == 4 * count then
      local at = 1
      for i = 1, count do
        local length = struct.unpack('<I4', form, 4 * i - 3)
        values[i] = string.sub(texts, at, at + length - 1)
        at = at + length
      end
      whole = whole and at - 1 == #texts
    else
      local length = tonumber(form)
      whole = whole and length and length >= 1 and length * count == #texts
      if whole then
        local digits = string.format('%.0f', length)
        local one = 'c' .. digits
        values = { struct.unpack(string.rep(one, count), texts) }
        values[count + 1] = nil -- where it has stopped
      end
    end
    columns[c] = values
  end
  if not whole or #arguments ~= last then
    error('REDISDELAY argument: number of ' .. what)
  end
  return count, columns
end
