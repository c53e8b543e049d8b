-- The rate that is set, and where its state is: that of all clients, or of this one alone. Nil before a rate is set, with an error if
-- something else is stored there. `count`: how far the grants have been counted, while a count runs.
local function limiterOf(key, value, ownValue, permits, ownPermits)
  local set, problem = rateOf(key, permits, ownPermits)
  if not set then
    return nil, problem
  end
  local limiter = { key = key, value = value, permits = permits, own = set[3] == '1' }
  limiter.rate, limiter.interval, limiter.keepAlive = whole(set[1]), whole(set[2]), whole(set[4] or '0')
  if not (limiter.rate and limiter.interval and limiter.keepAlive) then
    return nil, redis.error_reply('WRONGKIND a rate that is no number')
  end
  if limiter.own then
    limiter.value, limiter.permits = ownValue, ownPermits
  end
  limiter.counted = limiter.own and set[6] or not limiter.own and set[5]
  if limiter.counted then
    local grants, sum, latest = string.match(#limiter.counted < 80 and limiter.counted or '', '^(%d+) (%d+) (%-?[%di]%S*)$')
    grants, sum = whole(grants), whole(sum)
    limiter.count = grants and sum and tonumber(latest) and { grants = grants, permits = sum, latest = latest } or { grants = 0, permits = 0 }
  end
  return limiter
end
