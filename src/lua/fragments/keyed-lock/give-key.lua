-- Makes this owner the holder of a key of a group, until `ends`, `level` times.
local function giveKey(group, field, owner, ends, level)
  local own = field .. ':' .. owner
  redis.call('HSET', group, field, owner, own .. ':expire_time', ends, own .. ':lock_count', level)
end
