-- Releases the lock of its owner, whatever the count, or takes a waiter out of the line. If the lock is free then, it goes to the next.
-- Owners that stood right behind it and have had their turn in its process meanwhile leave with it (`served`).
-- KEYS lock, queue, deadlines
-- ARGV owner, lease (ms), allowance (ms), channel, grants, publish, served[7..]
-- returns integer 1 released, 0 only waited, -1 neither held nor waited

local time = redis.call('TIME')
local line = {
  lock = lock, queue = queue, deadlines = deadlines, channel = channel, grants = grants, publish = publish,
  lease = lease, allowance = allowance, stamp = time[1] .. string.format('%06d', time[2]),
  now = time[1] * 1000 + math.floor(time[2] / 1000),
}
-- A waiter leaves the line even if something else is stored at the lock by now.
local held = redis.pcall('HDEL', lock, owner) == 1
local leaving, places = { owner, unpack(served, 7) }, {}
-- The owner is first in the line unless it confirmed its grant. Those that were served stand right behind one another, unless a release
-- by force removed some of them.
local first = placeAt(queue, places, 1) == owner and 1 or 2
local last, waited, freed = first - 1, first == 1 or removeWaiter(line, owner), held
while leaving[last + 1] and placeAt(queue, places, last - first + 2) == leaving[last + 1] do last = last + 1 end
local together = last - first + 1
if together > 0 then
  local behind = last == #leaving and (last > 1 or not held) and placeAt(queue, places, together + 1)
  if behind and not isOurs(behind) then
    limitDeadlines(line, leaving[last], places, together + 1, held and 0 or math.max(leftOf(lock), lease))
  end
  freed = redis.call('ZREM', deadlines, unpack(places, 1, together)) > 0 or freed
  redis.call('LTRIM', queue, together, -1)
end
for i = last + 1, #leaving do freed = removeWaiter(line, leaving[i]) or freed end
-- A release by force may have granted the lock to an owner that had its turn already, or woken that one up.
if leaving[2] and not held then
  freed = (tonumber(redis.pcall('HDEL', lock, unpack(leaving, 2))) or 0) > 0 or freed
end
if (freed or waited) and redis.call('EXISTS', lock) == 0 then
  removeOverdue(line, string.sub(owner, 1, 36))
  grantNext(line, {})
end
if held then
  return 1
end
return waited and 0 or -1
