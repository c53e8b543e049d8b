-- Extends the reads that are still their owners' to at least a full lease, and the locks to at least as much, because a renewal by Redisson
-- may shorten them. Never creates a hold, never shortens one, and touches no other owner's. A key that holds something else by now counts
-- as lost and does not stop the others. Any other error is the reply, because it says nothing about the reads.
-- KEYS locks[1..]
-- ARGV lease (ms), owners[2..]
--   locks: each followed by its owner's levels
--   lease: 0 leaves it as it is
-- returns integer[owners] ms left, -2 lost, in the order of the owners

local renewed, missing, looks = {}, 0, 0
for i = 2, #owners do
  local lock, levels = locks[2 * i - 3], locks[2 * i - 2]
  local count = redis.pcall('HGET', lock, owners[i])
  if type(count) == 'table' and not string.find(count.err, 'WRONGTYPE', 1, true) then
    return count
  end
  local left = type(count) == 'string' and leftOf(levels .. ':1') or -2
  if left ~= -2 and math.max(left, 0) < lease then
    for level = 1, levelOf(count) do
      -- Another program may have written each of the counts, and keys as well. So a script looks for a limited number of missing keys in
      -- all, and renews no more keys than one owner may have. An owner with more than a few is renewed alone.
      missing, looks = missing + 1 - redis.call('PEXPIRE', levels .. ':' .. level, lease), looks + 1
      if missing > LEVELS_TRUSTED or looks >= 9999 then break end
    end
    left = lease
  end
  extendExpiry(lock, left)
  renewed[i - 1] = left
end
return renewed
