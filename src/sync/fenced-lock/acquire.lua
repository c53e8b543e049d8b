-- Takes the lock when it is free, with a token above all before it. Asked again by the owner that has it (a reply was
-- lost), it is still one hold, with the same token.
-- KEYS[1] lock
-- KEYS[2] counter
-- ARGV[1] owner
-- ARGV[2] lease (ms)
-- ARGV[3] known the newest token that the caller has seen
-- returns digits token of the hold | integer ms that it stays another's, -1 when it has no expiry
local lock = KEYS[1]
local counter = KEYS[2]
local owner = ARGV[1]
local lease = ARGV[2]
local known = ARGV[3]

--include holder-of
--include raise-counter
--include wrong-kind
--include take-hold

local left = redis.call('PTTL', lock)
local holder = left ~= -2 and holderOf(lock)
if holder == nil then
  return wrongKind(lock)
end
local again = holder == owner
if holder and not again then
  return left
end
raiseCounter(counter, known)
if not again or redis.call('EXISTS', counter) == 0 then
  redis.call('INCR', counter)
end
takeHold(lock, owner, lease)
-- As text: a number of Lua's is exact up to 2^53 only.
return redis.call('GET', counter)
