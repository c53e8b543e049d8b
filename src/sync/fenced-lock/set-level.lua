-- Sets how often an owner holds the lock: once more, with a new token, once less, or as often as before to extend the lease. The level is
-- absolute, so a repeated or late copy does no harm. Never creates a hold, never shortens one.
-- KEYS lock, counter
-- ARGV owner, level (count), lease (ms), known
-- returns [integer left, digits token | nil] ms left, -1 without expiry, and the newest token | nil not this owner's

local held = redis.call('HGET', lock, owner)
if not held then
  return nil
end
local token
local left = setLevelAndLease(leftOf(lock), lease, function(left)
  if left >= 0 then redis.call('PEXPIRE', lock, left) end
  token = raiseCounter(counter, known)
  if level > levelOf(held) then
    redis.call('INCR', counter)
    token = redis.call('GET', counter)
  end
  redis.call('HSET', lock, owner, level)
end)
return { left, isToken(token) and token or false }
