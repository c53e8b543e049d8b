-- The mark of a place that is granted the lock now, or skipped: a fraction of a ms that is added to its deadline. It is the number of the
-- current step of time, from 1 on, in units that a deadline can represent. `markAge` reads it.
local function markNow(now)
  return (1 + math.floor(now / MARK_STEP) % MARK_STEPS) / MARK_UNITS
end
