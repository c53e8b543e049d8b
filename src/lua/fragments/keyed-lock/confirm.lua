-- Takes an owner that was granted its keys on trial, or that asks again, out of the line, and sets its full lease; a longer one is not
-- shortened. Returns for how many ms at least it holds the keys, 0 if it does not.
local function confirm(line, owner, lease)
  if not isHolder(line, owner) then
    return 0
  end
  -- First the steps that need no memory.
  local stood = removeWaiter(line, owner)
  extendExpiry(line.lock, lease)
  local fields = fieldsOf(line, owner)
  local ends, counts = endsOf(line.lock, fields, owner)
  for first = 1, #fields, 500 do
    local times = {}
    for i = first, math.min(first + 499, #fields) do
      local onTrial = stood and counts[i] == '1'
      times[#times + 1] = fields[i] .. ':' .. owner .. ':expire_time'
      times[#times + 1] = math.max(onTrial and 0 or ends[i], line.now + lease)
    end
    redis.call('HSET', line.lock, unpack(times))
  end
  return lease
end
