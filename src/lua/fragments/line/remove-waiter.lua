-- Takes an owner out of the line, and returns whether it stood there. One script searches only a limited number of places, unless the owner
-- is `near` the head. A place that it does not find has no deadline any more, so it goes when the walk comes to it.
local function removeWaiter(line, owner, near)
  local stood = redis.call('ZREM', line.deadlines, owner) == 1
  if line.sets then redis.call('HDEL', line.sets, owner) end
  if stood and not near then line.length = line.length or redis.call('LLEN', line.queue) end
  if stood and not near then line.search = (line.search or LINE_SEARCHED) - line.length end
  if stood and (near or line.search >= 0) then redis.call('LREM', line.queue, 1, owner) end
  return stood
end
