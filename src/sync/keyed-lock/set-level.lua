-- Sets how often an owner holds these keys: once more, once less, or as often as before to extend the lease. The level is absolute, so a
-- repeated or late copy does no harm. Never creates a hold, never shortens one.
-- KEYS group
-- ARGV owner, level (count text), lease (ms), fields[4..]
-- returns integer ms left, -2 if this owner does not hold all of them

local now = serverNow()
local left = math.huge
for i = 4, #fields do
  local mine = keyLeft(group, fields[i], owner, now)
  if mine == 0 then
    return -2
  end
  left = math.min(left, mine)
end
extendExpiry(group, lease)
left = math.max(left, lease)
for i = 4, #fields do
  giveKey(group, fields[i], owner, now + neverShorter(keyLeft(group, fields[i], owner, now), lease), level)
end
local ttl = redis.call('PTTL', group)
return ttl >= 0 and math.min(left, ttl) or left
