-- Passes a hold to another owner, with a token of its own: to the next waiter of this process, or to the call that adopts a ticket. If the
-- new owner asks again (a reply was lost), it is still one hold, with the same token.
-- KEYS lock, counter
-- ARGV from, to, lease (ms text), known
-- returns digits token of the hold | nil neither owner holds it, or there is no such lock

local holder = holderOf(lock)
local passes = holder == from
if not holder or not passes and holder ~= to then
  return nil
end
raiseCounter(counter, known)
-- First: if there is no token, the hold is not passed.
if passes or redis.call('EXISTS', counter) == 0 then
  redis.call('INCR', counter)
end
redis.call('HDEL', lock, from)
takeFirstHold(lock, to, lease)
return redis.call('GET', counter)
