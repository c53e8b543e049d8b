-- Who was let in on trial, or asks again, leaves the line and has its whole lease; what it has had longer is not made shorter.
-- For how many ms it has it, 0 when it does not.
local function confirm(line, owner, lease)
  if not isHolder(line, owner) then
    return 0
  end
  -- First what needs no memory.
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
