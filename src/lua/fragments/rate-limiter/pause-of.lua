-- For how many ms an owner behind others sleeps if nobody wakes it: until its permits are due (`due`), the first in the line should have
-- asked (`first`), and both are surely late, by a sixteenth of that more. At most 1 s at the first place, twice as long at each place behind
-- it, up to 30 s: what a lost message costs. One that hears no messages asks when its permits are due.
local function pauseOf(rank, due, first, hears)
  local most, before = math.min(POLL * 2 ^ math.min(rank, 5), LONGEST_PAUSE), math.max(due, first)
  if not hears then
    return math.max(20, math.min(due, most))
  end
  return math.floor(math.max(20, math.min(before + SURELY_LATE + math.min(before / 16, 2000), most)))
end
