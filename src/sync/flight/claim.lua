-- A token for the caller that is to compute: it must hold the lock, and no computation may have ended since it looked.
-- KEYS record, lock, counter
-- ARGV owner, after, known
--   after: the token of the newest end that the caller has seen
-- returns digits token | nil look again

local token, foreign = endedOf(record)
if not token and foreign then
  return redis.error_reply('WRONGKIND a hash of another program')
end
if redis.call('HEXISTS', lock, owner) == 0 or token and token ~= after then
  return nil
end
return newToken(counter, known)
