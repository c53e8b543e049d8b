-- The mark of who is granted the lock now, or is not heard: a fraction of a ms that is added to its deadline. It is the number of the
-- tick that this is, from 1 on, in units of which a deadline can tell apart; `markAge` reads it.
local function markNow(now)
  return (1 + math.floor(now / MARK_STEP) % MARK_STEPS) / MARK_UNITS
end
