-- How many permits the places before `rank` want; for more than 8 places, an estimate from the first 8. Late places do not count.
local function aheadOf(line, rank)
  local ahead, some = 0, rank > 0 and placesIn(line, 0, math.min(rank, 8) - 1) or {}
  for _, place in ipairs(some) do
    ahead = ahead + (place.asks + LATE >= line.now and place.wants or 0)
  end
  return rank > 8 and math.ceil(ahead / 8 * rank) or ahead
end
