-- Sets how often a reader holds the lock: one more, one less, or as often as before to make the lease longer.
-- Absolute, so that a repeated or late copy does no harm. Never creates, never shortens.
-- KEYS lock, levels
-- ARGV owner, level (count), lease (ms)
-- returns integer ms left, -2 not this owner's

local count = redis.call('HGET', lock, owner)
local left = count and leftOf(levels .. ':1') or -2
-- Its own time is over, though others go on reading.
if left == -2 then
  return -2
end
left = math.max(left, lease)
-- First: a server short of memory lets a script write on that has begun with what needs none.
extendExpiry(lock, left)
redis.call('PEXPIRE', levels .. ':1', left)
for i = 2, level do
  keepLevel(levels .. ':' .. i, left)
end
for i = level + 1, countOf(count) do
  if redis.call('UNLINK', levels .. ':' .. i) == 0 then break end
end
redis.call('HSET', lock, owner, level)
return left
