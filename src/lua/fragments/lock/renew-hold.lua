-- Extends a hold that is still its owner's to at least a full lease (0: leaves it as it is), even if somebody removed the expiry. Returns
-- the ms left, -1 without expiry, -2 lost; or an error that is not about what the key holds.
local function renewHold(lock, owner, lease)
  local found = redis.pcall('HEXISTS', lock, owner)
  if found ~= 1 then
    return type(found) == 'table' and not string.find(found.err, 'WRONGTYPE', 1, true) and found or -2
  end
  local left = leftOf(lock)
  if lease > 0 and left < lease then
    redis.call('PEXPIRE', lock, lease)
    left = lease
  end
  return left
end
