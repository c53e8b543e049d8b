-- The lock may have come free: `freed`, or there is `room` in the line. Where it is left to others, whoever is first in the line is
-- called, to hear when they are through; else those who may enter do. Whether it is left to others.
local function handOver(line, freed, room)
  if turnLeft(line) > 0 then
    local head = firstOf(line)
    if head then
      redis.pcall(line.publish, grantChannel(line, head), '0')
    end
    return true
  end
  if freed and (line.sets or redis.call('EXISTS', line.lock) == 0) and beginTurn(line) then
    return true
  end
  if freed or room then
    endTurn(line)
    walkLine(line, {})
  end
  return false
end
