-- The first step of each of Redisson's scripts: removes owners that have been silent for too long from the head of the queue, up
-- to 1,000 at a time. An entry without a deadline is removed, too: the scripts of Redisson before version 4 fail on it, for
-- everybody, until somebody removes it.
local function removeOverdue(queue, deadlines, now)
  local function isOverdue(owner)
    return owner and tonumber(redis.call('ZSCORE', deadlines, owner) or 0) <= now
  end
  local head = redis.call('LINDEX', queue, 0)
  if not isOverdue(head) then
    return
  end
  local some, gone = #head < LONGEST_NAME and placesAt(queue, 0, 1000) or { head }, 1
  while isOverdue(some[gone + 1]) do gone = gone + 1 end
  redis.call('ZREM', deadlines, unpack(some, 1, gone))
  redis.call('LTRIM', queue, gone, -1)
end
