-- The outsiders' turn is over: one of our clients has the lock.
local function endTurn(line)
  if redis.pcall('HDEL', line.turn, 'till') == 1 then
    redis.pcall('HSET', line.turn, 'since', line.now, 'visits', 0)
    redis.pcall('PEXPIRE', line.turn, TURN_TIME)
  end
end
