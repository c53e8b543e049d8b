-- Takes the lock from whoever holds it, and tells nobody.
-- KEYS lock
-- returns integer 1 when it was held, 0 when it was free

if holderOf(lock) == nil then
  return wrongKind(lock)
end
return redis.call('UNLINK', lock)
