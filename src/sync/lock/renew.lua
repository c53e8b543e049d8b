-- Gives the locks that are still their owners' at least a full lease, also where somebody took the expiry away. Never creates,
-- never shortens; touches nobody else's.
-- A key that holds something else by now counts as lost and does not stop the others; any other error says nothing.
-- KEYS locks[1..]
-- ARGV lease (ms), owners[2..]
--   lease: 0 as they have
-- returns integer[owners] ms left, -1 without expiry, -2 lost, in the order of the locks

local renewed = {}
for i, lock in ipairs(locks) do
  local found = redis.pcall('HEXISTS', lock, owners[i + 1])
  if found == 1 then
    local left = leftOf(lock)
    if lease > 0 and left < lease then
      redis.call('PEXPIRE', lock, lease)
      left = lease
    end
    renewed[i] = left
  elseif type(found) == 'table' and not string.find(found.err, 'WRONGTYPE', 1, true) then
    return found
  else
    renewed[i] = -2
  end
end
return renewed
