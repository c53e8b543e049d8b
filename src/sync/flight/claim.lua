-- A token for whoever is to compute: it must hold the lock, and nobody must have ended since the caller looked.
-- KEYS[1] record
-- KEYS[2] lock
-- KEYS[3] counter
-- ARGV[1] owner
-- ARGV[2] after (count) the token of the newest end that the caller has seen
-- ARGV[3] known the newest token that the caller has had for any key
-- returns digits token | nil look again

local token, foreign = endedOf(record)
if not token and foreign then
  return redis.error_reply('WRONGKIND a hash of another program')
end
if redis.call('HEXISTS', lock, owner) == 0 or token and token ~= after then
  return nil
end
local count = raiseCounter(counter, known)
if type(count) ~= 'string' or not countWith(count, 1) then
  return redis.error_reply('WRONGKIND a text that is no count')
end
redis.call('INCR', counter)
return redis.call('GET', counter)
