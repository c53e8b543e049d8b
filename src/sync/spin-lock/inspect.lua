-- Who holds the lock, how often, and for how long.
-- KEYS lock
-- returns [integer ttl, string[pairs] owners and counts in turn] ttl in ms, -1 without expiry, -2 if free

local holder, count = holderOf(lock)
if holder == nil then
  return wrongKind(lock)
end
return { leftOf(lock), holder and { holder, count } or {} }
