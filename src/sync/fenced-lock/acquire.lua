-- Acquires the lock, with a token higher than all before it, if the lock is free, nobody waits for it in the line and it is not left to
-- outsiders. If its holder asks again (a reply was lost), it is still one hold, with the same token.
-- KEYS lock, queue, turn, counter
-- ARGV owner, lease (ms text), known
-- returns digits token of the hold | integer ms that another owner keeps it, -1 if it has no expiry, -2 if it may be another's turn

local again = false
if redis.call('EXISTS', lock, queue, turn) > 0 then
  --functions
  local refusal = refusalOf(lock, queue, turn, owner)
  if refusal then
    return refusal
  end
  again = redis.call('HEXISTS', lock, owner) == 1
end
local token = again and raiseCounter(counter, known)
if not isToken(token) then
  token = newToken(counter, known)
end
-- First: if there is no token, the lock is not acquired.
if type(token) == 'string' then
  takeFirstHold(lock, owner, lease)
end
return token
