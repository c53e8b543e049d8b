-- Who holds the lock, how often, and for how long; and the newest token of all.
-- KEYS[1] lock
-- KEYS[2] counter
-- returns [integer ttl, string[pairs] fields, digits token | nil] ttl in ms, -1 without expiry, -2 when free; owners and counts in turn
local lock = KEYS[1]
local counter = KEYS[2]
--include holder-of
--include wrong-kind

if holderOf(lock) == nil then
  return wrongKind(lock)
end
return { redis.call('PTTL', lock), redis.call('HGETALL', lock), redis.call('GET', counter) }
