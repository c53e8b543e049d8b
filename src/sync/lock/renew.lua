-- Gives the locks that are still their owners' at least a full lease, also where somebody took the expiry away. Never creates,
-- never shortens; touches nobody else's.
-- A key that holds something else by now counts as lost and does not stop the others; any other error says nothing.
-- KEYS locks[1..]
-- ARGV lease (ms), owners[2..]
--   lease: 0 as they have
-- returns integer[owners] ms left, -1 without expiry, -2 lost, in the order of the locks

local renewed = {}
for i, lock in ipairs(locks) do
  local left = renewHold(lock, owners[i + 1], lease)
  if type(left) == 'table' then
    return left
  end
  renewed[i] = left
end
return renewed
