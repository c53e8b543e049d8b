-- Takes an owner out of the line. Whether it stood there.
local function takeOut(line, owner)
  if redis.call('ZREM', line.deadlines, owner) == 0 then
    return false
  end
  redis.call('LREM', line.queue, 1, owner)
  return true
end
