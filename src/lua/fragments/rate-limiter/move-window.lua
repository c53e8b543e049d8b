-- Credits what has left the window. `left`: how many permits there are now; `stored`: how many are written down. It credits a hundred
-- grants, and more only until there are enough permits, so that no call pays for everything that left at once. If more are due, it sets
-- `behind`. It stops after a thousand grants, even if there are not enough permits yet: a call that needs more asks again.
local function moveWindow(limiter, now, enough)
  local permits, horizon = limiter.permits, now - limiter.interval
  local function sum(grants, step)
    local total = 0
    for i = 1, #grants, step or 1 do total = total + grantSize(grants[i]) end
    return total
  end
  local stored = textOf(limiter.value)
  local left = whole(stored)
  limiter.stored = stored and left
  if left and not limiter.count then
    local looks = 0
    repeat
      local gone, long = membersAt(permits, 0, 100, horizon)
      if #gone > 0 then
        redis.call('ZREMRANGEBYRANK', permits, 0, #gone / 2 - 1)
      end
      left, looks = left + sum(gone, 2), looks + (long and 10 or 1)
      limiter.behind, limiter.long = #gone == 200 or long, long
    until not limiter.behind or left >= enough or looks >= 10
  end
  limiter.left = left
  -- If that number and the grants do not add up, the grants count: Redisson released permits, another rate was
  -- set, or one of the keys was lost.
  if limiter.count or not left or left > limiter.rate or left < enough and redis.call('EXISTS', permits) == 0 then
    countWindow(limiter, horizon, sum)
  end
end
