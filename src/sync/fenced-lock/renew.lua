-- Renews holds as a plain lock's script does. A counter that was deleted continues from its holder's token, whatever became of the lock.
-- KEYS locks[1..]
-- ARGV lease (ms), holds[2..]
--   locks: each followed by its counter
--   lease: 0 leaves it as it is
--   holds: a token and an owner each
-- returns integer[holds] ms left, -1 without expiry, -2 lost, in the order of the locks

local renewed = {}
for i = 2, #holds do
  local token, owner = string.match(holds[i], '^(%d+) (.+)$')
  raiseCounter(locks[2 * i - 2], token)
  local left = renewHold(locks[2 * i - 3], owner, lease)
  if type(left) == 'table' then
    return left
  end
  renewed[i - 1] = left
end
return renewed
