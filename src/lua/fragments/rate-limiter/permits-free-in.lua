-- In how many ms there will be that many permits. Each interval brings back as many as the rate: those are whole rounds. For the rest,
-- looks at the grants, the oldest first: the permits of each come back when it leaves the window. Looks at a thousand grants at most; if
-- more are needed, the time is when those have left. A script asks this for several places in its line, and reads each grant once:
-- `limiter.freed` keeps how many permits have come back with it, and when. Entries too long for a grant are removed, because another
-- program may have written megabytes there.
local function permitsFreeIn(limiter, permits, now)
  local rounds = math.floor((permits - 1) / limiter.rate)
  local missing = permits - rounds * limiter.rate - math.max(0, limiter.left)
  local freed = limiter.freed or { permits = {}, times = {}, sum = 0, ends = limiter.long }
  limiter.freed = freed
  while freed.sum < missing and #freed.times < 1000 and not freed.ends do
    local from, long = #freed.times, {}
    local oldest = redis.call('ZRANGE', limiter.permits, from, from + 3, 'WITHSCORES')
    for i = 1, #oldest, 2 do
      if #oldest[i] > LONGEST_GRANT then
        long[#long + 1] = oldest[i]
      else
        freed.sum = freed.sum + grantSize(oldest[i])
        freed.permits[#freed.permits + 1], freed.times[#freed.times + 1] = freed.sum, math.ceil(oldest[i + 1])
      end
    end
    if #long > 0 then redis.pcall('ZREM', limiter.permits, unpack(long)) end
    freed.ends = #oldest == 0 or #long > 0
  end
  -- The first grant up to which there are enough, or the last.
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
