-- Included where a page of a sorted set begins behind a position: a score and a member, which need not be there any more.

-- Redis orders members by their bytes; Lua compares text by the server's locale.
local function page_is_before(a, b)
  for i = 1, math.min(#a, #b) do
    local x, y = string.byte(a, i), string.byte(b, i)
    if x ~= y then
      return x < y
    end
  end
  return #a < #b
end

-- Returns how many members of a set are in front of the position of a score, as text, and a member. This member is among
-- them, except when paging backwards; then the empty member is behind all others of that score.
local function page_begin(set, score, member, from_behind)
  local low = redis.call('ZCOUNT', set, '-inf', '(' .. score)
  local high = low + redis.call('ZCOUNT', set, score, score)
  if from_behind and member == '' then
    return high
  end
  while low < high do
    local middle = math.floor((low + high) / 2)
    local other = redis.call('ZRANGE', set, middle, middle)[1]
    if page_is_before(member, other) or (from_behind and member == other) then
      high = middle
    else
      low = middle + 1
    end
  end
  return low
end
