-- Gives the locks that are still their owners' a full lease. Never creates; touches nobody else's.
-- A key that holds something else by now counts as lost and does not stop the others; any other error says nothing.
-- KEYS[1..] locks
-- ARGV[1] lease (ms)
-- ARGV[2..] owners
-- returns integer[] 1 renewed, 0 lost, in the order of the locks
local locks = KEYS
local lease = ARGV[1]
local owners = ARGV

local renewed = {}
for i, lock in ipairs(locks) do
  local found = redis.pcall('HEXISTS', lock, owners[i + 1])
  if found == 1 then
    redis.call('PEXPIRE', lock, lease)
    renewed[i] = 1
  elseif type(found) == 'table' and not string.find(found.err, 'WRONGTYPE', 1, true) then
    return found
  else
    renewed[i] = 0
  end
end
return renewed
