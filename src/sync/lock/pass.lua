-- Passes a hold on to another owner: to the next waiter of this process, or to whoever adopts a ticket.
-- Asked again by the new owner (a reply was lost), it is still one hold.
-- KEYS lock
-- ARGV from, to, lease (ms text)
-- returns integer 1 passed, 0 when it was neither's, or no such lock

local holder = holderOf(lock)
if not holder or holder ~= from and holder ~= to then
  return 0
end
redis.call('HDEL', lock, from)
takeHold(lock, to, lease)
return 1
