-- Until when an owner has each of these keys, 0 where it is another's; and how often.
local function endsOf(group, fields, owner)
  local ends, counts = {}, {}
  for first = 1, #fields, 500 do
    local names = {}
    for i = first, math.min(first + 499, #fields) do
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
