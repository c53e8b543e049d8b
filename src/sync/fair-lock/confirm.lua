-- Who was granted the lock says that it goes on: it leaves the line and has its lease. Never creates; where it has been taken
-- again meanwhile, or was confirmed before, it never shortens.
-- KEYS lock, queue, deadlines
-- ARGV owner, lease (ms)
-- returns integer ms that it is this owner's, 0 when it is not any more

if redis.call('HEXISTS', lock, owner) == 0 then
  return 0
end
return confirm({ lock = lock, queue = queue, deadlines = deadlines }, owner, lease)
