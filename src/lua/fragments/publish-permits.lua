-- Publishes how many permits there are now, and returns how many processes heard it. Redisson's listeners accept a count from 1 to
-- 2147483647. If the server refuses the message, what was done stays done.
local function publishPermits(channel, publish, available)
  if available <= 0 then
    return 0
  end
  local told = redis.pcall(publish, channel, math.min(available, 2147483647))
  return type(told) == 'number' and told or 0
end
