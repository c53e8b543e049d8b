-- For how many ms an owner sleeps that is behind others, though nobody calls it: until its permits should be due, the first in the
-- line should have asked, and both are surely late; at first for as long as a lost message may cost. One that hears no calls asks
-- when its permits should be due.
local function pauseOf(rank, due, first, hears)
  local most, before = math.min(POLL * 2 ^ math.min(rank, 5), LONGEST_PAUSE), math.max(due, first)
  if not hears then
    return math.max(20, math.min(due, most))
  end
  return math.floor(math.max(20, math.min(before + SURELY_LATE + math.min(before / 16, 2000), most)))
end
