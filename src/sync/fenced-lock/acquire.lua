-- Takes the lock when it is free, nobody waits for it in the line and it is not left to others, with a token above all before it.
-- Asked again by the owner that has it (a reply was lost), it is still one hold, with the same token.
-- KEYS lock, queue, turn, counter
-- ARGV owner, lease (ms text), known
-- returns digits token of the hold | integer ms that it stays another's, -1 when it has no expiry, -2 when it may be another's turn

local again = false
if redis.call('EXISTS', lock, queue, turn) > 0 then
  --functions
  local refusal = refusalOf(lock, queue, turn, owner)
  if refusal then
    return refusal
  end
  again = redis.call('HEXISTS', lock, owner) == 1
end
-- What is no token is refused by INCR, in the server's own words.
if not isToken(raiseCounter(counter, known)) or not again then
  redis.call('INCR', counter)
end
takeHold(lock, owner, lease)
-- As text: a number of Lua's is exact up to 2^53 only.
return redis.call('GET', counter)
