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
-- If the counter holds no token, INCR refuses, with the server's own error.
if not isToken(raiseCounter(counter, known)) or not again then
  redis.call('INCR', counter)
end
takeFirstHold(lock, owner, lease)
-- As text, because Lua's numbers are exact only up to 2^53.
return redis.call('GET', counter)
