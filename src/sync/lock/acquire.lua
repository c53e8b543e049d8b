-- Takes the lock when it is free, nobody waits for it in the line and it is not left to others. Asked again by the owner that has
-- it (a reply was lost), it is still one hold.
-- KEYS lock, queue, turn
-- ARGV owner, lease (ms text)
-- returns nil held | integer ms that it stays another's, -1 when it has no expiry, -2 when it may be another's turn

if redis.call('EXISTS', lock, queue, turn) > 0 then
  --functions
  local refusal = refusalOf(lock, queue, turn, owner)
  if refusal then
    return refusal
  end
end
takeHold(lock, owner, lease)
return nil
