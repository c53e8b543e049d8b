-- Passes a write to another owner: to the next waiter of this process, or to the call that adopts a ticket. The lock lasts at least as long
-- as a read that has come under it meanwhile. If the new owner asks again, it is still one hold.
-- KEYS lock
-- ARGV from, to, lease (ms)
-- returns integer 1 passed, 0 if neither owner holds it, or it is not a write

local found = redis.call('HMGET', lock, 'mode', from, to)
local writes = found[1] == 'write' and string.sub(from, -6) == ':write' and string.sub(to, -6) == ':write'
if not writes or levelOf(found[2]) == 0 and levelOf(found[3]) == 0 then
  return 0
end
redis.call('HDEL', lock, from)
redis.call('HSET', lock, to, 1)
-- Two fields: the mode, and the write itself.
if redis.call('HLEN', lock) == 2 then
  redis.call('PEXPIRE', lock, lease)
else
  extendExpiry(lock, lease)
end
return 1
