-- Counts the permits granted in the window, a thousand grants in a run, from the newest to the oldest: what leaves the window meanwhile has
-- not been counted yet. What is left is the rate minus that count. Until the count is complete there are no permits, not even for Redisson.
-- `limiter.count` says how far it is: how many grants and permits, and the time of the newest.
local function countWindow(limiter, horizon, sum)
  local permits, count = limiter.permits, limiter.count or { grants = 0, permits = 0 }
  limiter.count, limiter.left, limiter.behind = count, 0, true
  -- First removes what has left the window.
  local gone, long = membersAt(permits, 0, 1000, horizon)
  if #gone > 0 then
    redis.call('ZREMRANGEBYRANK', permits, 0, #gone / 2 - 1)
  end
  limiter.long = limiter.long or long
  if #gone == 2000 or limiter.long then
    return
  end
  -- How many of the grants were there when the count began: those that are not newer.
  local known = count.grants > 0 and redis.call('ZCOUNT', permits, '-inf', count.latest) or 0
  if known < count.grants or known == 0 then
    -- The count begins here, or begins again, because some of what was counted is gone.
    count.grants, count.permits = 0, 0
    count.latest = redis.call('ZREVRANGE', permits, 0, 0, 'WITHSCORES')[2]
    known = count.latest and redis.call('ZCOUNT', permits, '-inf', count.latest) or 0
  end
  local later = {}
  if known > 0 then
    -- The next thousand, behind those that are counted.
    local last = known - count.grants - 1
    local grants = last < 0 and {} or grantsAt(limiter, math.max(0, last - 999), math.min(1000, last + 1))
    if not grants then
      return
    end
    count.grants, count.permits = count.grants + #grants, count.permits + sum(grants)
    -- The window cannot hold more than the rate: anything beyond that was written by another program.
    if last > 999 and count.grants < limiter.rate + 1000 then
      return
    end
    -- Redisson may have credited some permits meanwhile, and granted them.
    later = grantsAt(limiter, known, 1000)
    if not later then
      return
    elseif #later == 1000 then
      count.grants = 0
      return
    end
  end
  limiter.left = limiter.rate - count.permits - sum(later)
  limiter.count, limiter.behind = nil, false
end
