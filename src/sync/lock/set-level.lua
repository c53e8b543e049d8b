-- Sets how often its owner holds the lock: one more, one less, or as often as before to make the lease longer.
-- Absolute, so that a repeated or late copy does no harm. Never creates, never shortens.
-- KEYS lock
-- ARGV owner, level (count text), lease (ms)
-- returns integer ms left, -1 without expiry, -2 not this owner's

if redis.call('HEXISTS', lock, owner) == 0 then
  return -2
end
local left = leftOf(lock)
if left >= 0 then
  left = math.max(left, lease)
  -- Before the count: a server short of memory lets a script write on that has begun with what needs none.
  redis.call('PEXPIRE', lock, left)
end
redis.call('HSET', lock, owner, level)
return left
