-- Members of a sorted set and their scores, in turn, from a rank on: `most` of them, and none above the score `till`.
-- Reads a few at a time, and stops after half a megabyte, because another program may have written megabytes there. Also
-- returns whether it stopped for that.
local function membersAt(key, first, most, till)
  local some, bytes = {}, 0
  if till then most = math.min(most, redis.call('ZCOUNT', key, '-inf', till) - first) end
  while #some < 2 * most and bytes <= LONGEST_READ do
    local from = first + #some / 2
    local few = redis.call('ZRANGE', key, from, from + math.min(some[1] and 4 or 2, most - #some / 2) - 1, 'WITHSCORES')
    if #few == 0 then break end
    for i = 1, #few, 2 do some[#some + 1], some[#some + 2], bytes = few[i], few[i + 1], bytes + #few[i] end
  end
  return some, bytes > LONGEST_READ
end
