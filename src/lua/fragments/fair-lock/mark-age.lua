-- How many ms ago a mark was made (`markNow`), up to 16 s. The deadline itself does not say this, because Redisson's waiters
-- move it when they have their turn.
local function markAge(now, mark)
  return (math.floor(now / MARK_STEP) + 1 - mark * MARK_UNITS) % MARK_STEPS * MARK_STEP
end
