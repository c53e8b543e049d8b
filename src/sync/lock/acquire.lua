-- Acquires the lock if it is free, nobody waits for it in the line and it is not left to outsiders. If its holder asks again (a reply
-- was lost), it is still one hold.
-- KEYS lock, queue, turn
-- ARGV owner, lease (ms text)
-- returns 'held' | integer ms that another owner keeps it, -1 if it has no expiry, -2 if it may be another's turn

if redis.call('EXISTS', lock, queue, turn) > 0 then
  --functions
  local refusal = refusalOf(lock, queue, turn, owner)
  if refusal then
    return refusal
  end
end
takeFirstHold(lock, owner, lease)
return 'held'
