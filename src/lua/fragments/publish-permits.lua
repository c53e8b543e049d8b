-- Tells waiters how many permits there are now; returns how many processes heard it. Redisson's listeners take a count from 1 to
-- 2^31 - 1. What was done is done, also where telling it is refused.
local function publishPermits(channel, publish, available)
  if available <= 0 then
    return 0
  end
  local told = redis.pcall(publish, channel, math.min(available, 2147483647))
  return type(told) == 'number' and told or 0
end
