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
local token = not passes and raiseCounter(counter, known)
if not isToken(token) then
  token = newToken(counter, known)
end
-- First: if there is no token, the hold is not passed.
if type(token) == 'string' then
  redis.call('HDEL', lock, from)
  takeFirstHold(lock, to, lease)
end
return token
