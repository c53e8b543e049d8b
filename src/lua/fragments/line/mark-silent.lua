-- A writer waits for readers, who may go on for long: if it has not asked for as long as a trial lasts, it is put on trial, so that it
-- does not keep those behind it waiting for the rest of its allowance.
local function markSilent(line, owner, deadline)
  -- When it asked last, as ms from now: 0 or less, unless the server's clock was set back.
  local asked = line.allowance and deadline - line.now - line.allowance
  if asked and (asked < -TRIAL or asked >= 1) then
    redis.call('ZADD', line.deadlines, math.min(deadline, line.now + TRIAL_MARKED), owner)
  end
end
