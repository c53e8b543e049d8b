-- Writes down how many permits there are. The keys last as Redisson's do: for the keep-alive from now on, or as long as the rate. The state
-- of one client expires when none of it can be in the window any more, because nobody else would delete it.
local function saveLimiter(limiter)
  local expiry = limiter.keepAlive > 0 and limiter.keepAlive or leftOf(limiter.key)
  if expiry < 0 and limiter.own then
    expiry = limiter.interval + 1000
  end
  local function keep()
    saveValue(limiter)
    if limiter.keepAlive > 0 then
      redis.call('PEXPIRE', limiter.key, expiry)
    end
    if expiry > 0 then
      redis.call('PEXPIRE', limiter.value, expiry)
      redis.call('PEXPIRE', limiter.permits, expiry)
    end
  end
  if not pcall(keep) then
    -- Redis does not roll back a script if it refuses one of its commands: a key that was made just now would stay forever.
    for _, key in ipairs(expiry > 0 and { limiter.value, limiter.permits } or {}) do
      if redis.call('PTTL', key) == -1 then redis.call('UNLINK', key) end
    end
    -- Each of these fails again before it makes anything.
    redis.call('PEXPIRE', limiter.permits, math.max(expiry, 1))
    keep()
  end
end
