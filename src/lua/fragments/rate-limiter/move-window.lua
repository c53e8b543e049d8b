-- Credits what has left the window: `left` is how many permits there are now, `stored` how many are written down. It does so
-- for a hundred grants, and for more only until there are enough: no call pays for all that left at once. `behind` then; after
-- a thousand, too, though there are not enough yet: who needs more asks again.
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
  -- Where the two do not agree the grants count: Redisson gave permits back, another rate was set, or one of the keys was lost.
  if limiter.count or not left or left > limiter.rate or left < enough and redis.call('EXISTS', permits) == 0 then
    countWindow(limiter, horizon, sum)
  end
end
