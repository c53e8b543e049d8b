-- Passes a hold on to another owner with a token of its own: to the next waiter of this process, or to whoever adopts a
-- ticket. Asked again by the new owner (a reply was lost), it is still one hold, with the same token.
-- KEYS lock, counter
-- ARGV from, to, lease (ms text), known
-- returns digits token of the hold | nil it was neither's, or no such lock

local holder = holderOf(lock)
local passes = holder == from
if not holder or not passes and holder ~= to then
  return nil
end
raiseCounter(counter, known)
-- First: where there is no token, nothing changes hands.
if passes or redis.call('EXISTS', counter) == 0 then
  redis.call('INCR', counter)
end
redis.call('HDEL', lock, from)
takeHold(lock, to, lease)
return redis.call('GET', counter)
