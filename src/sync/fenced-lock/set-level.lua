-- Sets how often an owner holds the lock: once more, with a new token, once less, or as often as before to extend the lease. The level is
-- absolute, so a repeated or late copy does no harm. Never creates a hold, never shortens one.
-- KEYS lock, counter
-- ARGV owner, level (count), lease (ms), known
-- returns [integer left, digits token | nil] ms left, -1 without expiry, and the newest token | nil not this owner's

local held = redis.call('HGET', lock, owner)
if not held then
  return nil
end
local left = neverShorter(leftOf(lock), lease)
-- Before the count: if a script begins with a write that needs no memory, a server short of memory accepts its other writes, too.
if left >= 0 then redis.call('PEXPIRE', lock, left) end
local more = level > levelOf(held)
local token = more and newToken(counter, known) or raiseCounter(counter, known)
if more and type(token) == 'table' then
  return token
end
redis.call('HSET', lock, owner, level)
return { left, isToken(token) and token or false }
