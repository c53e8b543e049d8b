-- Keeps a read going for `lease` ms at a level, which has a key of its own. What another program has there is unlinked,
-- which costs this script nothing.
local function keepLevel(key, lease)
  if not redis.call('SET', key, 1, 'PX', lease, 'NX') then
    redis.call('UNLINK', key)
    redis.call('SET', key, 1, 'PX', lease)
  end
end
