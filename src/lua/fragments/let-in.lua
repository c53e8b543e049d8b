-- Reads or writes from now on, for so long.
local function letIn(line, owner, lease)
  local writes, left = string.sub(owner, -6) == ':write', redis.call('PTTL', line.lock)
  redis.call('HSET', line.lock, 'mode', writes and 'write' or 'read', owner, 1)
  if not writes then
    redis.call('SET', line.companion .. ':' .. owner .. ':rwlock_timeout:1', 1, 'PX', lease)
  end
  if left ~= -1 and left < lease then
    redis.call('PEXPIRE', line.lock, lease)
  end
end
