-- Frees the lock of its owner, whatever the count, and tells those who wait for a message. It has one key: while a slot of a cluster
-- moves, no node runs what has several, one of which is not there. Who stands in the line finds out by asking.
-- KEYS lock
-- ARGV owner, channel, publish
-- returns integer 1 freed, -1 when it was not this owner's

if redis.call('HDEL', lock, owner) == 0 then
  return -1
end
-- Freed is freed: where telling it is refused (an ACL without the channel), waiters find out by asking.
redis.pcall(publish, channel, '0')
return 1
