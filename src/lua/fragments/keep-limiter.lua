-- Writes down how many permits there are. The keys last as Redisson's do: for the keep-alive from now on, or as long as the
-- rate. What a client has for itself goes when nothing of it can be in the window any more: who else would delete it?
local function keepLimiter(limiter)
  keepValue(limiter)
  local expiry = limiter.keepAlive
  if expiry > 0 then
    redis.call('PEXPIRE', limiter.key, expiry)
  else
    expiry = redis.call('PTTL', limiter.key)
    if expiry < 0 and limiter.own then
      expiry = limiter.interval + 1000
    end
  end
  if expiry > 0 then
    redis.call('PEXPIRE', limiter.value, expiry)
    redis.call('PEXPIRE', limiter.permits, expiry)
  end
end
