-- For how many ms the lock is left to outsiders; 0 if it is our turn. No turn is longer than 3 s: a longer one was written by another
-- program, or before the server's clock was set back.
local function turnLeft(line)
  local till = redis.pcall('HGET', line.turn, 'till')
  local left = (type(till) == 'string' and #till < 20 and tonumber(till) or 0) - line.now
  return left > 0 and left <= 3000 and left or 0
end
