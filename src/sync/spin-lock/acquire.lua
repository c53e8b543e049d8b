-- Acquires the lock if it is free. If its holder asks again (a reply was lost), it is still one hold.
-- KEYS lock
-- ARGV owner, lease (ms text)
-- returns 'held' | integer ms that another owner keeps it, -1 if it has no expiry

local left = leftOf(lock)
local holder = left ~= -2 and holderOf(lock)
if holder == nil then
  return wrongKind(lock)
end
if holder and holder ~= owner then
  return left
end
takeFirstHold(lock, owner, lease)
return 'held'
