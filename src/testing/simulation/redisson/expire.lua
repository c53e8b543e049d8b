-- What a multi-lock with a lease does when it has all its members: an expiry on everything, the line as well, unasked.
-- KEYS[1] lock
-- KEYS[2] queue
-- KEYS[3] deadlines
-- ARGV[1] lease (ms text)
-- returns integer 1 it was there, 0 it was not

redis.call('PEXPIRE', queue, lease)
redis.call('PEXPIRE', deadlines, lease)
return redis.call('PEXPIRE', lock, lease)
