-- For how many ms the lock is left to outsiders; 0: it is the turn of ours. No turn is as long as 3 s: what says so was written by another
-- program, or before the server's clock was set back.
local function turnLeft(line)
  local till = redis.pcall('HGET', line.turn, 'till')
  local left = (type(till) == 'string' and #till < 20 and tonumber(till) or 0) - line.now
  return left > 0 and left <= 3000 and left or 0
end
