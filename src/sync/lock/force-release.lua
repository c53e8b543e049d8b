-- Takes the lock from whoever holds it; it goes to the next in the line.
-- KEYS lock, queue, deadlines
-- ARGV channel, grants, publish
-- returns integer 1 when it was held, 0 when it was free

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
-- On trial it stands in the line still.
pcall(function()
  removeWaiter(line, holder)
  walkLine(line, {})
end)
-- Whoever waits here for a hold of its own process asks what became of it. Freed is freed, also where telling it is refused.
redis.pcall(publish, channel, '0')
return 1
