-- Who holds the lock, how often, and for how long.
-- KEYS[1] lock
-- returns [integer ttl, string[] owners and counts in turn] ttl in ms, -1 without expiry, -2 when free
local lock = KEYS[1]

return { redis.call('PTTL', lock), redis.call('HGETALL', lock) }
