-- A read goes on for so long at a level, which has a key of its own. What another program has there goes, at no cost of this script's.
local function keepLevel(key, lease)
  if not redis.call('SET', key, 1, 'PX', lease, 'NX') then
    redis.call('UNLINK', key)
    redis.call('SET', key, 1, 'PX', lease)
  end
end
