-- What a multi-lock with a lease does when it has all its members: an expiry on everything, the line as well, unasked.
-- KEYS lock, queue, deadlines
-- ARGV lease (ms text)
-- returns integer 1 it was there, 0 it was not

redis.call('PEXPIRE', queue, lease)
redis.call('PEXPIRE', deadlines, lease)
return redis.call('PEXPIRE', lock, lease)
