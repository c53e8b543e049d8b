-- Takes all that a client has in the line out of it, in one pass; of a line that no script can go through, what it has at the
-- head. How many it has looked at.
local function dropClient(line, client)
  local most = redis.call('LLEN', line.queue) > 5000 and 1000 or 5000
  local some, stay = redis.call('LRANGE', line.queue, 0, most - 1), {}
  for _, owner in ipairs(some) do
    if string.sub(owner, 1, 36) ~= client then
      stay[#stay + 1] = owner
    else
      redis.call('ZREM', line.deadlines, owner)
      if most == 1000 then
        redis.call('LREM', line.queue, 1, owner)
      end
    end
  end
  if most > 1000 then
    -- First, while the queue is there: a refusal then leaves it as it was.
    keepLine(line)
    redis.call('DEL', line.queue)
    for i = 1, #stay, 1000 do
      redis.call('RPUSH', line.queue, unpack(stay, i, math.min(i + 999, #stay)))
    end
  end
  keepLine(line)
  return #some
end
