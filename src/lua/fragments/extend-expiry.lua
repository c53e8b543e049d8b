-- Makes the lock last at least as long as this hold of it.
local function extendExpiry(lock, lease)
  local left = redis.call('PTTL', lock)
  if left >= 0 and left < lease then
    redis.call('PEXPIRE', lock, lease)
  end
end
