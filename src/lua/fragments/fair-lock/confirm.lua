-- Who was granted the lock, or asks again, leaves the line and has its lease. What it has longer, since it has taken the lock
-- again or was confirmed before, is not made shorter. For how many ms it has it.
local function confirm(line, owner, lease)
  local onTrial = removeWaiter(line, owner) and redis.call('HGET', line.lock, owner) == '1'
  local left = leftOf(line.lock)
  if onTrial or left < lease then
    redis.call('PEXPIRE', line.lock, lease)
    left = lease
  end
  return left
end
