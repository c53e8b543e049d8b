-- Frees the lock of its owner, whatever the count, and wakes one waiter of each process. Where the counter was deleted
-- meanwhile it goes on from the owner's token, so that the next one is above it.
-- KEYS[1] lock
-- KEYS[2] counter
-- KEYS[3] channel
-- ARGV[1] owner
-- ARGV[2] known the newest token that the caller has seen
-- ARGV[3] publish
-- returns integer processes told, -1 when it was not this owner's
local lock = KEYS[1]
local counter = KEYS[2]
local channel = KEYS[3]
local owner = ARGV[1]
local known = ARGV[2]
local publish = ARGV[3]

--include raise-counter

if redis.call('HDEL', lock, owner) == 0 then
  return -1
end
raiseCounter(counter, known)
-- Freed is freed: where telling it is refused (an ACL without the channel), waiters find out by asking.
local told = redis.pcall(publish, channel, '0')
return type(told) == 'number' and told or 0
