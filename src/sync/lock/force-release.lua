-- Releases the lock by force; it goes to the next in the line.
-- KEYS lock, queue, deadlines
-- ARGV channel, grants, publish
-- returns integer 1 if it was held, 0 if it was free

local holder = holderOf(lock)
if holder == nil then
  return wrongKind(lock)
end
if redis.call('UNLINK', lock) == 0 then
  return 0
end
local time = redis.call('TIME')
local line = {
  lock = lock, queue = queue, deadlines = deadlines, companion = true, grants = grants, publish = publish,
  client = '', stamp = time[1] .. string.format('%06d', time[2]),
  now = time[1] * 1000 + math.floor(time[2] / 1000),
}
-- A holder on trial still stands in the line.
pcall(function()
  removeWaiter(line, holder)
  grantInOrder(line, {})
end)
-- On this message, calls that wait for a hold of their own process ask what became of it. The lock is free even if the server refuses it.
redis.pcall(publish, channel, '0')
return 1
