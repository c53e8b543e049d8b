-- Extends the holds that are still their owners' to at least a full lease, even if somebody removed the expiry. Never creates a hold, never
-- shortens one, and touches no other owner's. A key that holds something else by now counts as lost and does not stop the others. Any other
-- error is the reply, because it says nothing about the holds.
-- KEYS locks[1..]
-- ARGV lease (ms), owners[2..]
--   lease: 0 leaves it as it is
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
