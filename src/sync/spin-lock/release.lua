-- Frees the lock of its owner, whatever the count, and tells nobody.
-- KEYS lock
-- ARGV owner
-- returns integer 1 freed, 0 when it was not this owner's

return redis.call('HDEL', lock, owner)
