-- Extends the holds that are still their owners' to at least a full lease. Never creates a hold, never shortens one, and touches no other
-- owner's. A key that holds something else by now counts as lost and does not stop the others.
-- KEYS groups[1..]
-- ARGV lease (ms), holds[2..]
--   lease: 0 leaves it as it is
--   holds: an owner and the fields that it holds, with blanks between them
-- returns integer[holds] ms left, -2 lost, in the order of the groups

local now = serverNow()
local renewed = {}
for i, group in ipairs(groups) do
  local owner, fields = nil, {}
  for word in string.gmatch(holds[i + 1], '%S+') do
    if owner then fields[#fields + 1] = word end
    owner = owner or word
  end
  local ends = redis.call('TYPE', group).ok == 'hash' and endsOf(group, fields, owner) or {}
  local least, short = math.huge, {}
  for f, field in ipairs(fields) do
    local till = ends[f] or 0
    least = math.min(least, till - now)
    if till < now + lease then
      short[#short + 1], short[#short + 2] = field .. ':' .. owner .. ':expire_time', now + lease
    end
  end
  if least > 0 then
    for first = 1, #short, 1000 do
      redis.call('HSET', group, unpack(short, first, math.min(first + 999, #short)))
    end
    extendExpiry(group, lease)
  end
  renewed[i] = least > 0 and math.max(lease, least) or -2
end
return renewed
