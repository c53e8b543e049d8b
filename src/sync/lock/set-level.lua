-- Sets how often an owner holds the lock: once more, once less, or as often as before to extend the lease. The level is absolute, so a
-- repeated or late copy does no harm. Never creates a hold, never shortens one.
-- KEYS lock
-- ARGV owner, level (count text), lease (ms)
-- returns integer ms left, -1 without expiry, -2 if this owner does not hold it

if redis.call('HEXISTS', lock, owner) == 0 then
  return -2
end
local left = neverShorter(leftOf(lock), lease)
-- Before the count: if a script begins with a write that needs no memory, a server short of memory accepts its other writes, too.
if left >= 0 then redis.call('PEXPIRE', lock, left) end
redis.call('HSET', lock, owner, level)
return left
