-- Takes an owner that was granted the lock on trial, or that asks again, out of the line, and sets its full lease; a longer one is not
-- shortened. Returns the ms left, 0 if it does not hold the lock.
local function confirm(line, owner, lease)
  local count = redis.call('HGET', line.lock, owner)
  if not count then
    return 0
  end
  local onTrial = removeWaiter(line, owner) and count == '1'
  local left = leftOf(line.lock)
  if onTrial or left < lease then
    redis.call('PEXPIRE', line.lock, lease)
    left = lease
  end
  return left
end
