-- Confirms a grant: the owner leaves the line and gets its lease. Never creates a hold. If the owner acquired again meanwhile, or
-- confirmed before, never shortens it.
-- KEYS lock, queue, deadlines
-- ARGV owner, lease (ms)
-- returns integer ms that this owner holds it, 0 if it does not any more

if redis.call('HEXISTS', lock, owner) == 0 then
  return 0
end
return confirm({ lock = lock, queue = queue, deadlines = deadlines }, owner, lease)
