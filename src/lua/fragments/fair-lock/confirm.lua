-- Takes an owner that was granted the lock, or that asks again, out of the line, and sets its lease. A longer lease, because the owner
-- acquired again or confirmed before, is not shortened. Returns the ms left.
local function confirm(line, owner, lease)
  local onTrial = removeWaiter(line, owner) and redis.call('HGET', line.lock, owner) == '1'
  local left = leftOf(line.lock)
  if onTrial or left < lease then
    redis.call('PEXPIRE', line.lock, lease)
    left = lease
  end
  return left
end
