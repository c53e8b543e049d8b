-- The lock may have become free (`freed`), or there is `room` in the line. If it is left to outsiders, wakes up the first in the line,
-- which listens until they are through. Otherwise, lets in the places that may enter. Returns whether it is left to outsiders.
local function handOver(line, freed, room)
  if turnLeft(line) > 0 then
    local head = firstInLine(line)
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
    grantInOrder(line, {})
  end
  return false
end
