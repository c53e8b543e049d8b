-- Sets how often its owner holds these keys: one more, one less, or as often as before to make the lease longer.
-- Absolute, so that a repeated or late copy does no harm. Never creates, never shortens.
-- KEYS group
-- ARGV owner, level (count text), lease (ms), fields[4..]
-- returns integer ms left, -2 not all of them are this owner's

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
  giveKey(group, fields[i], owner, now + math.max(lease, keyLeft(group, fields[i], owner, now)), level)
end
local ttl = redis.call('PTTL', group)
return ttl >= 0 and math.min(left, ttl) or left
