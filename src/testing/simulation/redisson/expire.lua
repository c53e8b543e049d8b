-- What a multi-lock with a lease does once it has all its members: it sets an expiry on everything, also on the line,
-- although nobody asks for that.
-- KEYS lock, queue, deadlines
-- ARGV lease (ms text)
-- returns integer 1 it was there, 0 it was not

redis.call('PEXPIRE', queue, lease)
redis.call('PEXPIRE', deadlines, lease)
return redis.call('PEXPIRE', lock, lease)
