-- Ends the trial of an owner, and returns how many of its permits have not lapsed; the caller decides what becomes of them. Lapsed permits
-- go back as all lapsed permits do. A waiter stays in the line.
local function endTrial(line, owner)
  local has, due = grantedTo(line, owner), redis.call('ZSCORE', line.deadlines, owner)
  if has <= 0 then return 0 end
  redis.call('ZREM', line.deadlines, owner)
  redis.call('HDEL', line.amounts, owner)
  if not due or math.floor(due) <= line.now then return 0 end
  return redis.call('ZREM', line.timeouts, unpack(trialIds(owner, math.min(has, MOST_GRANTED))))
end
