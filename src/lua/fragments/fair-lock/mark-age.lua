-- How many ms ago a mark was made (`markNow`), of which 16 s can be told: Redisson's waiters move the deadline itself when they have
-- their turn, so that it does not say.
local function markAge(now, mark)
  return (math.floor(now / MARK_STEP) + 1 - mark * MARK_UNITS) % MARK_STEPS * MARK_STEP
end
