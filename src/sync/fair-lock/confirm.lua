-- Who was granted the lock says that it goes on: it leaves the line and has a full lease. Never creates.
-- KEYS[1] lock
-- KEYS[2] queue
-- KEYS[3] deadlines
-- ARGV[1] owner
-- ARGV[2] lease (ms)
-- returns integer 1 confirmed, 0 when it is not this owner's any more
local lock, queue, deadlines = KEYS[1], KEYS[2], KEYS[3]
local owner, lease = ARGV[1], ARGV[2]
--include take-out

if redis.call('HEXISTS', lock, owner) == 0 then
  return 0
end
takeOut({ queue = queue, deadlines = deadlines }, owner)
redis.call('PEXPIRE', lock, lease)
return 1
