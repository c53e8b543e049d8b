-- In how many ms there will be so many permits. As many as the rate come again with each interval: those are whole rounds. For the rest
-- the grants are looked at, the oldest first: each comes again when it leaves the window. Of more than a thousand grants it is when those
-- have left. A script asks this for several in its line, and reads each grant once: how many permits came again up to it, and when.
local function permitsFreeIn(limiter, permits, now)
  local rounds = math.floor((permits - 1) / limiter.rate)
  local missing = permits - rounds * limiter.rate - math.max(0, limiter.left)
  local freed = limiter.freed or { permits = {}, times = {}, sum = 0 }
  limiter.freed = freed
  while freed.sum < missing and #freed.times < 1000 and not freed.ends do
    local from = #freed.times
    local oldest = redis.call('ZRANGE', limiter.permits, from, from + math.min(missing - freed.sum, 100) - 1, 'WITHSCORES')
    for i = 1, #oldest, 2 do
      freed.sum = freed.sum + (#oldest[i] > 3 and struct.unpack('<I4', oldest[i], #oldest[i] - 3) or 0)
      freed.permits[#freed.permits + 1] = freed.sum
      freed.times[#freed.times + 1] = math.ceil(oldest[i + 1])
    end
    freed.ends = #oldest == 0
  end
  -- The first up to which there are enough, or the last.
  local first, last = 1, #freed.times
  while first < last do
    local middle = math.floor((first + last) / 2)
    if freed.permits[middle] < missing then
      first = middle + 1
    else
      last = middle
    end
  end
  local left = missing > 0 and last > 0 and freed.times[last] + limiter.interval - now or 0
  return math.max(1, math.min(left + rounds * limiter.interval, MAX_SAFE_INTEGER))
end
