-- The rate that is set, and where the state of it is: of all clients, or of this one alone. Nil before one is set.
local function limiterOf(key, value, ownValue, permits, ownPermits)
  local set = redis.call('HMGET', key, 'rate', 'interval', 'type', 'keepAliveTime')
  if not (set[1] and set[2] and set[3]) then
    return nil
  end
  local limiter = { key = key, value = value, permits = permits, own = set[3] == '1' }
  limiter.rate, limiter.interval = tonumber(set[1]), tonumber(set[2])
  limiter.keepAlive = tonumber(set[4] or 0)
  if limiter.own then
    limiter.value, limiter.permits = ownValue, ownPermits
  end
  return limiter
end
