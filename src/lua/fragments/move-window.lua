-- Credits what has left the window: `left` is how many permits there are now, `stored` how many are written down. It does so
-- for a hundred grants, and for more only until there are enough: no call pays for all that left at once. `behind` then.
local function moveWindow(limiter, now, enough)
  local permits, horizon = limiter.permits, now - limiter.interval
  local function sum(grants)
    local total = 0
    for _, grant in ipairs(grants) do
      -- What is too short was written by another program.
      total = total + (#grant > 3 and struct.unpack('<I4', grant, #grant - 3) or 0)
    end
    return total
  end
  local stored = redis.call('GET', limiter.value)
  local left = whole(stored)
  limiter.stored = stored and left
  if left then
    repeat
      local gone = redis.call('ZRANGEBYSCORE', permits, '-inf', horizon, 'LIMIT', 0, 100)
      if #gone > 0 then
        redis.call('ZREMRANGEBYRANK', permits, 0, #gone - 1)
      end
      left = left + sum(gone)
      limiter.behind = #gone == 100
    until not limiter.behind or left >= enough
  end
  -- Where the two do not agree the grants count: Redisson gave permits back, another rate was set, or one of the keys was lost.
  if not left or left > limiter.rate or left < enough and redis.call('EXISTS', permits) == 0 then
    redis.call('ZREMRANGEBYSCORE', permits, '-inf', horizon)
    left, limiter.behind = limiter.rate, false
    -- More than the rate cannot be in the window: what is beyond was written by another program.
    for first = 0, math.min(redis.call('ZCARD', permits), limiter.rate + 1000) - 1, 1000 do
      left = left - sum(redis.call('ZRANGE', permits, first, first + 999))
    end
  end
  limiter.left = left
end
