-- In how many ms there will be so many permits. As many as the rate come again with each interval: those are whole rounds. For the rest
-- the grants are looked at, the oldest first: each comes again when it leaves the window. Of more than a thousand grants it is when those
-- have left. What is too long for a grant is read once, a few at a time, and goes: another program may have written megabytes there.
local function permitsFreeIn(limiter, permits, now)
  local rounds = math.floor((permits - 1) / limiter.rate)
  local missing = permits - rounds * limiter.rate - math.max(0, limiter.left)
  local left, first, some, long = 0, 0, 4, {}
  while missing > 0 and first < 1000 and #long == 0 do
    local oldest = redis.call('ZRANGE', limiter.permits, first, first + math.min(math.max(missing, 4), some) - 1, 'WITHSCORES')
    first, some = first + #oldest / 2, math.min(4 * some, 100)
    for i = 1, #oldest, 2 do
      if #oldest[i] > LONGEST_GRANT then
        long[#long + 1] = oldest[i]
      elseif missing > 0 then
        missing = missing - grantSize(oldest[i])
        left = math.ceil(oldest[i + 1]) + limiter.interval - now
      end
    end
    missing = #oldest > 0 and missing or 0
  end
  if #long > 0 then redis.pcall('ZREM', limiter.permits, unpack(long)) end
  return math.max(1, math.min(left + rounds * limiter.interval, MAX_SAFE_INTEGER))
end
