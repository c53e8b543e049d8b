-- Members of a sorted set and their scores, in turn, from a rank on: `most` of them, and none above the score `till`.
-- Reads a few at a time, and stops after half a megabyte, because another program may have written megabytes there. Also
-- returns whether it stopped for that.
local function membersAt(key, first, most, till)
  local some, bytes = {}, 0
  repeat
    local from, part, few = first + #some / 2, math.min(some[1] and 4 or 2, most - #some / 2), nil
    if till then
      few = redis.call('ZRANGEBYSCORE', key, '-inf', till, 'WITHSCORES', 'LIMIT', from, part)
    else
      few = redis.call('ZRANGE', key, from, from + part - 1, 'WITHSCORES')
    end
    for i = 1, #few, 2 do some[#some + 1], some[#some + 2], bytes = few[i], few[i + 1], bytes + #few[i] end
  until #few < 2 * part or #some >= 2 * most or bytes > LONGEST_READ
  return some, bytes > LONGEST_READ
end
