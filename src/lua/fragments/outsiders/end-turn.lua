-- Those who know of no line had their turn, and one of ours has the lock.
local function endTurn(line)
  if redis.pcall('HDEL', line.turn, 'till') == 1 then
    redis.pcall('HSET', line.turn, 'since', line.now, 'visits', 0)
    redis.pcall('PEXPIRE', line.turn, TURN_TIME)
  end
end
