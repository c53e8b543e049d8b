-- Until when an owner holds each of these keys, 0 if another owner does; and how often.
local function endsOf(group, fields, owner)
  local ends, counts, bytes = {}, {}, 0
  for first = 1, #fields, 10 do
    local names = {}
    -- If another program has left megabytes there, the rest is not read.
    for i = first, bytes < 200 * #counts + 10000 and math.min(first + 9, #fields) or 0 do
      local own = fields[i] .. ':' .. owner
      names[#names + 1], names[#names + 2], names[#names + 3] = fields[i], own .. ':expire_time', own .. ':lock_count'
    end
    local found = redis.call('HMGET', group, unpack(names))
    for i = 1, #found, 3 do
      ends[#ends + 1], counts[#counts + 1] = found[i] == owner and whole(found[i + 1]) or 0, found[i + 2]
    end
  end
  return ends, counts
end
