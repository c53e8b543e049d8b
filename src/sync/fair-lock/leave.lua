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
local function limitBehind(owner, longest)
  local behind = redis.call('LINDEX', queue, 1)
  if behind and not isOurs(behind) then
    limitDeadlines(line, owner, {}, 2, longest)
  end
end
-- A waiter leaves the line even if something else is stored at the lock by now.
local held = redis.pcall('HDEL', lock, owner) == 1
if not held and redis.call('LINDEX', queue, 0) == owner then
  limitBehind(owner, math.max(leftOf(lock), lease))
end
local waited = removeWaiter(line, owner)
local freed, near = held, true
for i = 7, #served do
  if i == #served and held then
    limitBehind(served[i], 0)
  end
  -- They stood right behind one another, so each is the first by now.
  near = near and redis.call('LINDEX', queue, 0) == served[i]
  freed = removeWaiter(line, served[i], near) or freed
  -- A release by force may have granted the lock to an owner that had its turn already, or woken that one up.
  freed = not held and redis.pcall('HDEL', lock, served[i]) == 1 or freed
end
if (freed or waited) and redis.call('EXISTS', lock) == 0 then
  removeOverdue(line, string.sub(owner, 1, 36))
  grantNext(line, {})
end
if held then
  return 1
end
return waited and 0 or -1
