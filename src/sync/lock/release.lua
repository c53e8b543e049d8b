-- Frees the lock of its owner, whatever the count, and wakes one waiter of each process.
-- KEYS[1] lock
-- KEYS[2] channel
-- ARGV[1] owner
-- ARGV[2] publish
-- returns integer processes told, -1 when it was not this owner's
local lock = KEYS[1]
local channel = KEYS[2]
local owner = ARGV[1]
local publish = ARGV[2]

if redis.call('HDEL', lock, owner) == 0 then
  return -1
end
-- Freed is freed: where telling it is refused (an ACL without the channel), waiters find out by asking.
local told = redis.pcall(publish, channel, '0')
return type(told) == 'number' and told or 0
