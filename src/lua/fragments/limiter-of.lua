-- The rate that is set, and where the state of it is: of all clients, or of this one alone. Nil before one is set, and what to say where something else stands there.
local function limiterOf(key, value, ownValue, permits, ownPermits)
  local set, problem = rateOf(key)
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
  return limiter
end
