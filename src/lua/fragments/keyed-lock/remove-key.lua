-- What an owner has of a key of a group goes. Redisson leaves the last two of who was overdue: in a group that is always in
-- use they would never go.
local function removeKey(group, field, owner)
  local own, gone = field .. ':' .. owner, 0
  if redis.call('HGET', group, field) == owner then gone = redis.call('HDEL', group, field) end
  if #owner < LONGEST_NAME then redis.call('HDEL', group, own .. ':expire_time', own .. ':lock_count') end
  return gone
end
