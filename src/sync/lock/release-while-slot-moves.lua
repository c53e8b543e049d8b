-- Releases the lock of its owner, whatever the count, and wakes up those that wait for a message. It has one key: while a slot of a cluster
-- moves, no node runs a script with several keys if one of them is not there. Waiters in the line find out by asking.
-- KEYS lock
-- ARGV owner, channel, publish
-- returns integer 1 released, -1 if this owner did not hold it

if redis.call('HDEL', lock, owner) == 0 then
  return -1
end
-- The lock is free even if the server refuses the message (an ACL without the channel): waiters find out by asking.
redis.pcall(publish, channel, '0')
return 1
