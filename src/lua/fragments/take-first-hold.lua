-- Makes this owner the holder for `lease` ms. Redis does not roll back a script if it refuses one of its commands, so if it refuses
-- PEXPIRE, the field is removed: no hold is left without an expiry.
local function takeFirstHold(lock, owner, lease)
  redis.call('HSET', lock, owner, 1)
  if type(redis.pcall('PEXPIRE', lock, lease)) == 'table' then
    redis.call('HDEL', lock, owner)
    -- Fails again, with the server's own error.
    redis.call('PEXPIRE', lock, lease)
  end
end
