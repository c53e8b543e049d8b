-- In how many ms there will be so many permits. As many as the rate come again with each interval: those are whole rounds. For the rest
-- the grants are looked at, the oldest first: each comes again when it leaves the window. Of more than a thousand grants it is when those
-- have left.
local function permitsFreeIn(limiter, permits, now)
  local rounds = math.floor((permits - 1) / limiter.rate)
  local missing = permits - rounds * limiter.rate - math.max(0, limiter.left)
  local left, first = 0, 0
  while missing > 0 and first < 1000 do
    local oldest = redis.call('ZRANGE', limiter.permits, first, first + math.min(missing, 100) - 1, 'WITHSCORES')
    first = first + 100
    for i = 1, #oldest, 2 do
      missing = missing - (#oldest[i] > 3 and struct.unpack('<I4', oldest[i], #oldest[i] - 3) or 0)
      left = math.ceil(oldest[i + 1]) + limiter.interval - now
      if missing <= 0 then
        break
      end
    end
    missing = #oldest > 0 and missing or 0
  end
  return math.max(1, math.min(left + rounds * limiter.interval, MAX_SAFE_INTEGER))
end
