-- Gives permits that are still there at least a full lease, each of the semaphore at its place. Never creates, never
-- shortens. A key that holds something else by now counts as lost and does not stop the others; any other error says nothing.
-- KEYS timeouts[1..]
-- ARGV lease (ms), ids[2..]
--   lease: 0 as they have
-- returns integer[ids] ms left, -1 when it never expires, -2 lost, in the order of the keys

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
