-- Sets how often its owner holds the lock: one more, with a new token, one less, or as often as before to make the lease
-- longer. Absolute, so that a repeated or late copy does no harm. Never creates, never shortens.
-- KEYS[1] lock
-- KEYS[2] counter
-- ARGV[1] owner
-- ARGV[2] level (count)
-- ARGV[3] lease (ms)
-- ARGV[4] known the newest token that the caller has seen
-- returns [integer left, digits token | nil] ms left, -1 without expiry, and the newest token | nil not this owner's
local lock = KEYS[1]
local counter = KEYS[2]
local owner = ARGV[1]
local level = tonumber(ARGV[2])
local lease = tonumber(ARGV[3])
local known = ARGV[4]

--include raise-counter

local held = tonumber(redis.call('HGET', lock, owner) or nil)
if not held then
  return nil
end
local left = redis.call('PTTL', lock)
if left >= 0 then
  left = math.max(left, lease)
  -- Before the count: a server short of memory lets a script write on that has begun with what needs none.
  redis.call('PEXPIRE', lock, left)
end
raiseCounter(counter, known)
if level > held then
  redis.call('INCR', counter)
end
redis.call('HSET', lock, owner, level)
return { left, redis.call('GET', counter) }
