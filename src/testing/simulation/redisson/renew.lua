-- Lets a hold go on for a whole lease from now.
-- KEYS[1] lock
-- ARGV[1] lease (ms text)
-- ARGV[2] owner
-- returns integer 1 renewed, 0 it is not held any more

if redis.call('HEXISTS', lock, owner) == 0 then
  return 0
end
return redis.call('PEXPIRE', lock, lease)
