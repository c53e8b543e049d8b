-- The key of a group is this owner's until then, and so often.
local function giveKey(group, field, owner, ends, level)
  local own = field .. ':' .. owner
  redis.call('HSET', group, field, owner, own .. ':expire_time', ends, own .. ':lock_count', level)
end
