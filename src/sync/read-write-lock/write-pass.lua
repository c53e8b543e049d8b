-- Passes a write on to another owner: to the next waiter of this process, or to whoever adopts a ticket. A read under it that
-- came late does not outlast the lock. Asked again by the new owner, it is still one hold.
-- KEYS lock
-- ARGV from, to, lease (ms)
-- returns integer 1 passed, 0 when it was neither's, or no write

local found = redis.call('HMGET', lock, 'mode', from, to)
local writes = found[1] == 'write' and string.sub(from, -6) == ':write' and string.sub(to, -6) == ':write'
if not writes or countOf(found[2]) == 0 and countOf(found[3]) == 0 then
  return 0
end
redis.call('HDEL', lock, from)
redis.call('HSET', lock, to, 1)
-- The mode, and the write itself.
if redis.call('HLEN', lock) == 2 then
  redis.call('PEXPIRE', lock, lease)
else
  extendExpiry(lock, lease)
end
return 1
