-- Takes an owner out of the line. What it had been granted goes back, unless the semaphore is gone, or its value cannot be counted up. If
-- the line is too long to search, the place goes when it comes to the head.
local function leaveLine(line, owner)
  local has = endTrial(line, owner)
  if has > 0 and addToCount(textOf(line.permits), has) then
    line.left = redis.call('INCRBY', line.permits, has) + (line.over or 0)
    line.added = line.added + has
  elseif redis.call('ZREM', line.deadlines, owner) == 1 then
    redis.call('HDEL', line.amounts, owner)
    if redis.call('LLEN', line.queue) <= 1000 then redis.call('LREM', line.queue, 1, owner) end
  end
  return has
end
