-- An owner leaves the line; what it had been granted goes back, unless there is no such semaphore any more, or
-- what stands there cannot be counted on. In a line that is too
-- long to look for it, its place goes when it comes to stand first.
local function leaveLine(line, owner)
  local has = endTrial(line, owner)
  if has > 0 and countWith(textOf(line.permits), has) then
    line.left = redis.call('INCRBY', line.permits, has) + (line.over or 0)
    line.added = line.added + has
  elseif redis.call('ZREM', line.deadlines, owner) == 1 then
    redis.call('HDEL', line.amounts, owner)
    if redis.call('LLEN', line.queue) <= 1000 then redis.call('LREM', line.queue, 1, owner) end
  end
  return has
end
