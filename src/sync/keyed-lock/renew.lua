-- Extends the holds that are still their owners' to at least a full lease. Never creates a hold, never shortens one, and touches no other
-- owner's. A key that holds something else by now counts as lost and does not stop the others.
-- KEYS groups[1..]
-- ARGV lease (ms), holds[2..]
--   lease: 0 leaves it as it is
-- returns integer[holds] ms left, -2 lost, in the order of the groups

local now = serverNow()
local renewed = {}
for i, group in ipairs(groups) do
  -- The owner, and the fields that it holds.
  local words = {}
  for word in string.gmatch(holds[i + 1], '%S+') do
    words[#words + 1] = word
  end
  local whole = redis.call('TYPE', group).ok == 'hash'
  local least = math.huge
  for f = 2, whole and #words or 0 do
    least = math.min(least, keyLeft(group, words[f], words[1], now))
    whole = least > 0
  end
  for f = 2, whole and #words or 0 do
    local own = words[f] .. ':' .. words[1]
    local ends = tonumber(redis.call('HGET', group, own .. ':expire_time'))
    if ends < now + lease then
      redis.call('HSET', group, own .. ':expire_time', now + lease)
    end
  end
  if whole then
    extendExpiry(group, lease)
  end
  renewed[i] = whole and math.max(lease, least) or -2
end
return renewed
