-- Removes what an owner has of a key of a group. Redisson leaves the last two fields of an overdue owner; in a group that is always
-- in use, they would stay forever.
local function removeKey(group, field, owner)
  local gone, own = 0, field .. ':'
  if redis.call('HGET', group, field) == owner then gone = redis.call('HDEL', group, field) end
  if #owner < LONGEST_NAME then redis.call('HDEL', group, own .. owner .. ':expire_time', own .. owner .. ':lock_count') end
  return gone
end
