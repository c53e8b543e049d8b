-- Releases the lock of its owner, whatever the count, without a message.
-- KEYS lock
-- ARGV owner
-- returns integer 1 released, 0 if this owner did not hold it

return redis.call('HDEL', lock, owner)
