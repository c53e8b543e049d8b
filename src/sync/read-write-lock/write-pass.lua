-- Passes a write on to another owner: to the next waiter of this process, or to whoever adopts a ticket. A read under it that
-- came late does not outlast the lock. Asked again by the new owner, it is still one hold.
-- KEYS[1] lock
-- ARGV[1] from
-- ARGV[2] to
-- ARGV[3] lease (ms)
-- returns integer 1 passed, 0 when it was neither's
local lock = KEYS[1]
local from, to, lease = ARGV[1], ARGV[2], tonumber(ARGV[3])
--include extend-expiry

if redis.call('HDEL', lock, from) == 0 and redis.call('HEXISTS', lock, to) == 0 then
  return 0
end
redis.call('HSET', lock, to, 1)
-- The mode, and the write itself.
if redis.call('HLEN', lock) == 2 then
  redis.call('PEXPIRE', lock, lease)
else
  extendExpiry(lock, lease)
end
return 1
