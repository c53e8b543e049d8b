-- Frees the lock of its owner, whatever the count, and wakes one waiter of each process. The channel is none of the
-- keys: while a slot of a cluster moves, no node runs what has several.
-- KEYS[1] lock
-- ARGV[1] owner
-- ARGV[2] channel
-- ARGV[3] publish
-- returns integer processes told, -1 when it was not this owner's
local lock = KEYS[1]
local owner = ARGV[1]
local channel = ARGV[2]
local publish = ARGV[3]

if redis.call('HDEL', lock, owner) == 0 then
  return -1
end
-- Freed is freed: where telling it is refused (an ACL without the channel), waiters find out by asking.
local told = redis.pcall(publish, channel, '0')
return type(told) == 'number' and told or 0
