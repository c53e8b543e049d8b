-- Passes a hold on to another owner: to the next waiter of this process, or to whoever adopts a ticket.
-- Asked again by the new owner (a reply was lost), it is still one hold.
-- KEYS[1] lock
-- ARGV[1] from
-- ARGV[2] to
-- ARGV[3] lease (ms)
-- returns integer 1 passed, 0 when it was neither's
local lock = KEYS[1]
local from = ARGV[1]
local to = ARGV[2]
local lease = ARGV[3]
--include take-hold

if redis.call('HDEL', lock, from) == 0 and redis.call('HEXISTS', lock, to) == 0 then
  return 0
end
takeHold(lock, to, lease)
return 1
