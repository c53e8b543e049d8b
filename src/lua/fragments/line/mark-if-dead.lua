-- A writer may wait long for readers. If it has not asked for the time of a trial, it is put on trial, so that it does not hold up those
-- behind it for the rest of its allowance.
local function markIfDead(line, owner, deadline)
  -- When it asked last, in ms from now: 0 or less, unless the server's clock was set back.
  local asked = line.allowance and deadline - line.now - line.allowance
  if asked and (asked < -TRIAL or asked >= 1) then
    redis.call('ZADD', line.deadlines, math.min(deadline, line.now + TRIAL_MARKED), owner)
  end
end
