-- Lets an owner read or write for `lease` ms. The key of a read's level, which has its own expiry, comes first. If the server refuses to
-- set the lock's expiry, the owner is taken out again.
local function grant(line, owner, lease)
  local writes, left = string.sub(owner, -6) == ':write', redis.call('PTTL', line.lock)
  if not writes then
    keepLevel(line.companion .. ':' .. owner .. ':rwlock_timeout:1', lease)
  end
  redis.call('HSET', line.lock, 'mode', writes and 'write' or 'read', owner, 1)
  if left ~= -1 and left < lease and type(redis.pcall('PEXPIRE', line.lock, lease)) == 'table' then
    redis.call('HDEL', line.lock, owner, left == -2 and 'mode' or owner)
    redis.call('PEXPIRE', line.lock, lease)
  end
end
