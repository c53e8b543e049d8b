-- How many permits those want who stand before the place `rank`: of more than 8 places, about as many as the first 8 say. Whoever is late
-- does not count.
local function aheadOf(line, rank)
  local ahead, some = 0, rank > 0 and placesIn(line, 0, math.min(rank, 8) - 1) or {}
  for _, place in ipairs(some) do
    ahead = ahead + (place.asks + LATE >= line.now and place.wants or 0)
  end
  return rank > 8 and math.ceil(ahead / 8 * rank) or ahead
end
