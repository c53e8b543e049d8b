-- Gives back the permits whose time is over, a thousand of them in one step, and tells who waits. Where the semaphore itself is gone, they go with it.
local function reap(permits, timeouts, channel, publish, now)
  local expired = redis.call('ZRANGEBYSCORE', timeouts, 0, now, 'LIMIT', 0, 1000)
  local reaped = #expired
  if reaped > 0 then
    redis.call('ZREM', timeouts, unpack(expired))
  end
  if reaped > 0 and redis.call('EXISTS', permits) == 1 then
    local available = redis.call('INCRBY', permits, reaped)
    if available > 0 then
      redis.pcall(publish, channel, math.min(available, 2147483647))
    end
  end
end
