-- A token for whoever is to compute: it must hold the lock, and nobody must have ended since the caller looked.
-- KEYS[1] record
-- KEYS[2] lock
-- KEYS[3] counter
-- ARGV[1] owner
-- ARGV[2] after (count) the newest token that the caller has seen at the key
-- ARGV[3] known the newest token that the caller has had for any key
-- returns digits token | nil look again
local record, lock, counter = KEYS[1], KEYS[2], KEYS[3]
local owner, after, known = ARGV[1], tonumber(ARGV[2]), ARGV[3]
--include whole
--include flight/ended-of
--include raise-counter

local token = endedOf(record)
if not token and redis.call('EXISTS', record) == 1 and redis.call('HEXISTS', record, 'token') == 0 then
  return redis.error_reply('WRONGKIND a hash of another program')
end
if redis.call('HEXISTS', lock, owner) == 0 or (token or 0) > after then
  return nil
end
raiseCounter(counter, known)
raiseCounter(counter, string.format('%.0f', after))
redis.call('INCR', counter)
return redis.call('GET', counter)
