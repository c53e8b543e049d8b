-- What a multi-lock with a lease does when it has all its members: an expiry on everything, the line as well, unasked.
-- KEYS[1] lock
-- KEYS[2] queue
-- KEYS[3] deadlines
-- ARGV[1] lease (ms)
-- returns integer 1 it was there, 0 it was not
local lock, queue, deadlines = KEYS[1], KEYS[2], KEYS[3]
local lease = ARGV[1]

redis.call('PEXPIRE', queue, lease)
redis.call('PEXPIRE', deadlines, lease)
return redis.call('PEXPIRE', lock, lease)
