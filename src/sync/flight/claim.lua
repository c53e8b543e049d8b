-- A token for the caller that is to compute: it must hold the lock, and no computation may have ended since it looked.
-- KEYS record, lock, counter
-- ARGV owner, after (count), known
--   after: the token of the newest end that the caller has seen
-- returns digits token | nil look again

local token, foreign = endedOf(record)
if not token and foreign then
  return redis.error_reply('WRONGKIND a hash of another program')
end
if redis.call('HEXISTS', lock, owner) == 0 or token and token ~= after then
  return nil
end
local count = raiseCounter(counter, known)
if type(count) ~= 'string' or not addToCount(count, 1) then
  return redis.error_reply('WRONGKIND a text that is no count')
end
redis.call('INCR', counter)
return redis.call('GET', counter)
