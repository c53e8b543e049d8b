-- Gives the lock to this owner for so long. Redis does not roll back a script whose command it refuses, so a refused PEXPIRE
-- takes the field with it: no hold is left without an expiry.
local function takeHold(lock, owner, lease)
  redis.call('HSET', lock, owner, 1)
  if type(redis.pcall('PEXPIRE', lock, lease)) == 'table' then
    redis.call('HDEL', lock, owner)
    -- Fails again, with the server's own words.
    redis.call('PEXPIRE', lock, lease)
  end
end
