-- Whether a hash may be the keys of a group, as far as a few fields show; just one, if fields may be long. A large hash counts
-- as a group if it has an expiry.
local function groupLike(group, ttl)
  local few = ttl < 0 or redis.call('HLEN', group) < 64
  local some = few and redis.call('HSCAN', group, '0', 'COUNT', 1)[2] or {}
  for i = 1, #some, 2 do
    if #some[i] ~= FIELD and string.sub(some[i], -12) ~= ':expire_time' and string.sub(some[i], -11) ~= ':lock_count' then
      return false
    end
  end
  return true
end
