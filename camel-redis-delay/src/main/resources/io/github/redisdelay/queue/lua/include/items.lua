-- Included in commands whose calls carry the requests of many callers: the items of a call, each argument as a list.
--@include packed.lua

-- The number of items, 1 to 256, and for each argument of an item the list of its values.
local items_count, items_columns = packed_count, packed_columns
for c, value in pairs(packed_same) do
  local values = {}
  for i = 1, items_count do
    values[i] = value
  end
  items_columns[c] = values
end
