-- For how many ms an owner behind others sleeps if no message wakes it up: until its permits are due (`due`) and the first in the line
-- should have asked (`first`), until both are surely late, and a sixteenth of the time longer, 2 s at most. All in all at most 1 s at the
-- first place, and twice as long at each place behind it, up to 30 s: that is what a lost message costs. An owner that hears no messages
-- asks when its permits are due.
local function pauseOf(rank, due, first, hears)
  local most, before = math.min(POLL * 2 ^ math.min(rank, 5), LONGEST_PAUSE), math.max(due, first)
  if not hears then
    return math.max(20, math.min(due, most))
  end
  return math.floor(math.max(20, math.min(before + SURELY_LATE + math.min(before / 16, 2000), most)))
end
