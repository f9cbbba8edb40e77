-- Included where dead letters are looked for by the ids of their messages, in the index (see index.lua).

-- At most so many dead letters of one message are found.
local DEAD_MOST = 100

-- Returns the digits of a message's dead letters, the newest first. An entry without a body is no dead letter. Neither is
-- one that no script has put there: change.lua makes a number of the digits after its first write.
local function dead_find(id)
  local found = redis.call('ZRANGE', key_dead_index, '(' .. id .. '\1', '[' .. id .. '\0', 'BYLEX', 'REV', 'LIMIT', 0, DEAD_MOST)
  local all = {}
  for i = 1, #found do
    local digits = string.sub(found[i], #id + 2)
    if string.find(digits, '^%d+$') and #digits <= 16 and redis.call('HEXISTS', key_dead_messages, id .. '@' .. digits) == 1 then
      all[#all + 1] = digits
    end
  end
  return all
end
