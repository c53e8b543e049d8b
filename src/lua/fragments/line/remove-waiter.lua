-- Takes an owner out of the line. Whether it stood there.
local function removeWaiter(line, owner)
  local stood = redis.call('ZREM', line.deadlines, owner) == 1
  if line.sets then redis.call('HDEL', line.sets, owner) end
  return stood and redis.call('LREM', line.queue, 1, owner) >= 0
end
