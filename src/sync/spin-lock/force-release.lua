-- Releases the lock by force, without a message.
-- KEYS lock
-- returns integer 1 if it was held, 0 if it was free

if holderOf(lock) == nil then
  return wrongKind(lock)
end
return redis.call('UNLINK', lock)
