-- Acquires the lock if it is free and it is the owner's turn; then all waiters become due an allowance earlier. Or acquires it again.
local function take(lock, queue, deadlines, owner, lease, allowance)
  local head = redis.call('LINDEX', queue, 0)
  if redis.call('EXISTS', lock) == 0 and (not head or head == owner) then
    redis.call('LPOP', queue)
    redis.call('ZREM', deadlines, owner)
    for _, other in ipairs(redis.call('ZRANGE', deadlines, 0, -1)) do
      redis.call('ZINCRBY', deadlines, -allowance, other)
    end
    redis.call('HSET', lock, owner, 1)
    redis.call('PEXPIRE', lock, lease)
    return true
  end
  if redis.call('HEXISTS', lock, owner) == 1 then
    redis.call('HINCRBY', lock, owner, 1)
    redis.call('PEXPIRE', lock, lease)
    return true
  end
  return false
end
