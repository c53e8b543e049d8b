-- Extends permits that are still there to at least a full lease; each id belongs to the semaphore in the same position. Never creates a
-- permit, never shortens one. A key that holds something else by now counts as lost and does not stop the others. Any other error is the
-- reply, because it says nothing about the permits.
-- KEYS timeouts[1..]
-- ARGV lease (ms), ids[2..]
--   lease: 0 leaves it as it is
-- returns integer[ids] ms left, -1 if it never expires, -2 lost, in the order of the keys

local now = serverNow()
local renewed = {}
for i, key in ipairs(timeouts) do
  local member = memberOf(ids[i + 1])
  local ends = redis.pcall('ZSCORE', key, member)
  if type(ends) == 'table' and not string.find(ends.err, 'WRONGTYPE', 1, true) then
    return ends
  elseif not ends or type(ends) == 'table' or tonumber(ends) <= now then
    renewed[i] = -2
  elseif ends == NEVER then
    renewed[i] = -1
  else
    renewed[i] = math.max(lease, math.min(tonumber(ends) - now, MAX_SAFE_INTEGER))
    if renewed[i] == lease then
      redis.call('ZADD', key, now + lease, member)
    end
  end
end
return renewed
