-- Who was let in on trial, or asks again, leaves the line and has its whole lease; what it has had longer is not made shorter.
-- For how many ms it has it, 0 when it does not.
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
