-- The reply to an owner that may not acquire the lock now: for how many ms another owner keeps it, -2 if it may be another's turn, or the
-- error that something else is stored there. Nil: the owner may acquire it.
local function refusalOf(lock, queue, turn, owner)
  local left = leftOf(lock)
  local holder = left ~= -2 and holderOf(lock)
  if holder == nil then
    return wrongKind(lock)
  end
  if holder then
    return holder ~= owner and left or nil
  end
  local time = redis.call('TIME')
  local line = { turn = turn, now = time[1] * 1000 + math.floor(time[2] / 1000) }
  if redis.call('EXISTS', queue) == 1 or turnLeft(line) > 0 then
    return left
  end
  endTurn(line)
end
