-- For how many ms the lock is left to others, who know of no line; 0: it is the turn of ours.
local function turnLeft(line)
  local till = redis.pcall('HGET', line.turn, 'till')
  local left = (type(till) == 'string' and tonumber(till) or 0) - line.now
  return left > 0 and left <= 3000 and left or 0
end
