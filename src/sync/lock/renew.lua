-- Gives the locks that are still their owners' a full lease. Never creates; touches nobody else's.
-- A key that holds something else by now (an error in the check) counts as lost and does not stop the others.
-- KEYS[1..] locks
-- ARGV[1] lease (ms)
-- ARGV[2..] owners
-- returns integer[] 1 renewed, 0 lost, in the order of the locks
local locks = KEYS
local lease = ARGV[1]
local owners = ARGV

local renewed = {}
for i, lock in ipairs(locks) do
  if redis.pcall('HEXISTS', lock, owners[i + 1]) == 1 then
    redis.call('PEXPIRE', lock, lease)
    renewed[i] = 1
  else
    renewed[i] = 0
  end
end
return renewed
