-- Sets how often a reader holds the lock: once more, once less, or as often as before to extend the lease. The level is absolute, so a
-- repeated or late copy does no harm. Never creates a hold, never shortens one.
-- KEYS lock, levels
-- ARGV owner, level (count), lease (ms)
-- returns integer ms left, -2 if this owner does not hold it

local count = redis.call('HGET', lock, owner)
local left = count and leftOf(levels .. ':1') or -2
-- Its own time is over, even if others go on reading.
if left == -2 then
  return -2
end
-- Without expiry, it gets one.
left = neverShorter(math.max(left, 0), lease)
-- First: if a script begins with a write that needs no memory, a server short of memory accepts its other writes, too.
extendExpiry(lock, left)
redis.call('PEXPIRE', levels .. ':1', left)
for i = 2, level do
  keepLevel(levels .. ':' .. i, left)
end
for i = level + 1, levelOf(count) do
  if redis.call('UNLINK', levels .. ':' .. i) == 0 then break end
end
redis.call('HSET', lock, owner, level)
return left
