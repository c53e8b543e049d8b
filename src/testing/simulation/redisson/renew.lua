-- Renews a hold for a whole lease from now.
-- KEYS lock
-- ARGV lease (ms text), owner
-- returns integer 1 renewed, 0 it is not held any more

if redis.call('HEXISTS', lock, owner) == 0 then
  return 0
end
return redis.call('PEXPIRE', lock, lease)
