-- Takes back permits whose time is over: 2,000 of them, or as many as are asked for. How many more are over: they stay where they
-- are, and whoever counts counts them as given back; and how many were taken back. Where the semaphore itself is gone, they go with it;
-- what is no count takes nothing back.
local function reclaimExpired(permits, timeouts, now, asked)
  local over = redis.call('ZCOUNT', timeouts, '-inf', now)
  local reaped = math.min(over, math.max(asked, 2000))
  local counts = reaped > 0 and textOf(permits)
  if counts and not countWith(counts, reaped) then
    return over, 0
  end
  local gone = reaped > 0 and membersAt(timeouts, 0, reaped) or {}
  -- Where they are too long for ids, less.
  reaped = #gone / 2
  if reaped > 0 then redis.call('ZREMRANGEBYRANK', timeouts, 0, reaped - 1) end
  if counts then
    -- Where the count may not be changed they stay, to be taken back later.
    orUndo(function()
      for i = 1, #gone, 2 do redis.call('ZADD', timeouts, gone[i + 1], gone[i]) end
    end, redis.call, 'INCRBY', permits, reaped)
  end
  return over - reaped, reaped
end
