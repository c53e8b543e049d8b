-- Whether this owner holds the lock.
local function isHolder(line, owner)
  return redis.call('HEXISTS', line.lock, owner) == 1
end
