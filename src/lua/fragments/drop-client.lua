-- Takes all that a client has in the line out of it, in one pass.
local function dropClient(line, client)
  local stay = {}
  for _, owner in ipairs(redis.call('LRANGE', line.queue, 0, -1)) do
    if string.sub(owner, 1, 36) == client then
      redis.call('ZREM', line.deadlines, owner)
    else
      stay[#stay + 1] = owner
    end
  end
  redis.call('DEL', line.queue)
  for i = 1, #stay, 1000 do
    redis.call('RPUSH', line.queue, unpack(stay, i, math.min(i + 999, #stay)))
  end
  keepLine(line)
end
