-- Sets how often its owner holds the lock: one more, with a new token, one less, or as often as before to make the lease
-- longer. Absolute, so that a repeated or late copy does no harm. Never creates, never shortens.
-- KEYS lock, counter
-- ARGV owner, level (count), lease (ms), known
-- returns [integer left, digits token | nil] ms left, -1 without expiry, and the newest token | nil not this owner's

local held = redis.call('HGET', lock, owner)
if not held then
  return nil
end
local left = leftOf(lock)
if left >= 0 then
  left = math.max(left, lease)
  -- Before the count: a server short of memory lets a script write on that has begun with what needs none.
  redis.call('PEXPIRE', lock, left)
end
local token = raiseCounter(counter, known)
if level > countOf(held) then
  redis.call('INCR', counter)
  token = redis.call('GET', counter)
end
redis.call('HSET', lock, owner, level)
return { left, isToken(token) and token or false }
