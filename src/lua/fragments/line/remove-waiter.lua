-- Takes an owner out of the line. Whether it stood there. A line of very many places is not searched for its own, unless that is `near`
-- the head: without a deadline it goes when the walk comes to it.
local function removeWaiter(line, owner, near)
  local stood = redis.call('ZREM', line.deadlines, owner) == 1
  if line.sets then redis.call('HDEL', line.sets, owner) end
  -- Asked once for all that one script takes out.
  if stood and not near and line.short == nil then line.short = redis.call('LLEN', line.queue) <= LINE_SEARCHED end
  if stood and (near or line.short) then redis.call('LREM', line.queue, 1, owner) end
  return stood
end
