-- Passes a hold to another owner: to the next waiter of this process, or to the call that adopts a ticket. If the new owner asks again (a
-- reply was lost), it is still one hold.
-- KEYS lock
-- ARGV from, to, lease (ms text)
-- returns integer 1 passed, 0 if neither owner holds it, or there is no such lock

local holder = holderOf(lock)
if not holder or holder ~= from and holder ~= to then
  return 0
end
redis.call('HDEL', lock, from)
takeFirstHold(lock, to, lease)
return 1
