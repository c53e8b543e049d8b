-- Releases the lock by force; it goes to the next in the line.
-- KEYS lock, queue, deadlines
-- ARGV lease (ms), allowance (ms), channel, grants, publish
-- returns integer 1 if it was held, 0 if it was free

local time = redis.call('TIME')
local line = {
  lock = lock, queue = queue, deadlines = deadlines, channel = channel, grants = grants, publish = publish,
  lease = lease, allowance = allowance, stamp = time[1] .. string.format('%06d', time[2]),
  now = time[1] * 1000 + math.floor(time[2] / 1000),
}
local holder = holderOf(lock)
if holder == nil then
  return wrongKind(lock)
end
if not holder then
  return 0
end
redis.call('UNLINK', lock)
-- A holder on trial still stands in the line.
removeWaiter(line, holder)
removeOverdue(line, '')
grantNext(line, {})
return 1
