-- What an owner has of a key of a group goes. Redisson leaves the last two of who was overdue: in a group that is always in
-- use they would never go.
local function removeKey(group, field, owner)
  local own = field .. ':' .. owner
  local gone = 0
  if redis.call('HGET', group, field) == owner then
    gone = redis.call('HDEL', group, field)
  end
  redis.call('HDEL', group, own .. ':expire_time', own .. ':lock_count')
  return gone
end
