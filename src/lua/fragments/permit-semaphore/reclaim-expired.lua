-- Reclaims expired permits: 2,000 of them, or as many as are asked for. Returns how many more have expired, which stay where
-- they are and count as released, and how many were reclaimed. If the semaphore itself is gone, they go with it; if its value
-- is not a count, nothing is reclaimed.
local function reclaimExpired(permits, timeouts, now, asked)
  local over = redis.call('ZCOUNT', timeouts, '-inf', now)
  local reaped = math.min(over, math.max(asked, 2000))
  local counts = reaped > 0 and textOf(permits)
  if counts and not addToCount(counts, reaped) then
    return over, 0
  end
  local gone = reaped > 0 and membersAt(timeouts, 0, reaped) or {}
  -- Fewer, if they are too long for ids.
  reaped = #gone / 2
  if reaped > 0 then redis.call('ZREMRANGEBYRANK', timeouts, 0, reaped - 1) end
  if counts then
    -- If the server refuses to change the count, they stay, to be reclaimed later.
    orUndo(function()
      for i = 1, #gone, 2 do redis.call('ZADD', timeouts, gone[i + 1], gone[i]) end
    end, redis.call, 'INCRBY', permits, reaped)
  end
  return over - reaped, reaped
end
