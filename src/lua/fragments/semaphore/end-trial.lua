-- Ends the trial of an owner, and returns how many permits it had been granted; the caller decides what becomes of
-- them. A waiter stays in the line.
local function endTrial(line, owner)
  local has = grantedTo(line, owner)
  if has > 0 then
    redis.call('ZREM', line.deadlines, owner)
    redis.call('HDEL', line.amounts, owner)
  end
  return has
end
