-- Whether this owner reads or writes, and its time is not over: the field of a read may outlast it.
local function isHolder(line, owner)
  return redis.call('HEXISTS', line.lock, owner) == 1
    and (string.sub(owner, -6) == ':write' or redis.call('EXISTS', line.companion .. ':' .. owner .. ':rwlock_timeout:1') == 1)
end
