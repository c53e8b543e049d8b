-- The place `ahead` leaves, and the lock is acquired for `lease`. Each of Redisson's waiters right behind it (from `first` in `waiting`)
-- becomes due its own allowance after the one before it, an hour at most. Any time beyond that has added up in a line that never empties,
-- and would keep a dead waiter there for as long. Our waiters never become due earlier.
local function limitDeadlines(line, ahead, waiting, first, lease)
  local before = storedDeadline(line, ahead) or 0
  local latest, least = line.now + lease, line.now + lease
  for i = first, first + 63 do
    local owner = placeAt(line.queue, waiting, i)
    if not owner then return end
    local deadline = not isOurs(owner) and storedDeadline(line, owner)
    if not deadline then
      return i > first and keepOrder(line, waiting, i, least)
    end
    -- Its allowance is what Redisson added to the deadline before it. Behind one of our marks, that is not known.
    local own = before % 1 == 0 and math.max(deadline - before, line.allowance) or line.allowance
    latest, least, before = latest + math.min(own, 3600000), least + line.allowance, math.floor(deadline)
    redis.call('ZADD', line.deadlines, math.max(least, math.min(latest, deadline)), owner)
  end
end
