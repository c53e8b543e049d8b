-- Removes all places of the clients in `line.dead` from the line, in one pass; if the line is too long for one script,
-- those among the first `most`. Each place that comes to the head meanwhile is shown to `look`, which may add its client.
-- Returns how many places it looked at.
local function removeDeadPlaces(line, most, look)
  local gone, stay, last, ahead, some, size = {}, {}, 0, 0, placesAt(line.queue, 0, most)
  for place, owner in ipairs(some) do
    local client = string.sub(owner, 1, 36)
    if look and #stay == 0 and not line.dead[client] then look(owner) end
    if line.dead[client] then
      gone[#gone + 1] = owner
      last, ahead = place, #stay
    else
      stay[#stay + 1] = owner
    end
  end
  -- First, while the queue still exists: if the server refuses this, the queue stays as it was. Afterwards, a server out of memory
  -- does not refuse the next steps.
  extendLine(line)
  for i = 1, #gone, 1000 do
    redis.call('ZREM', line.deadlines, unpack(gone, i, math.min(i + 999, #gone)))
    if line.sets then redis.call('HDEL', line.sets, unpack(gone, i, math.min(i + 999, #gone))) end
  end
  if last > 0 then redis.call('LTRIM', line.queue, last, -1) end
  while ahead > 0 do
    local back = {}
    for i = ahead, math.max(ahead - 999, 1), -1 do back[#back + 1] = stay[i] end
    redis.call('LPUSH', line.queue, unpack(back))
    ahead = ahead - #back
  end
  extendLine(line)
  return math.max(#some, size)
end
