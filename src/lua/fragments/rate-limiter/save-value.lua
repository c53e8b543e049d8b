-- Writes down how many permits there are, and how far they have been counted.
local function saveValue(limiter)
  if not limiter.stored then
    redis.call('SET', limiter.value, limiter.left)
  elseif limiter.left ~= limiter.stored then
    redis.call('INCRBY', limiter.value, limiter.left - limiter.stored)
  end
  limiter.stored = limiter.left
  local count = limiter.count
  if count then
    local text = string.format('%.0f %.0f %s', count.grants, count.permits, count.latest or '0')
    redis.call('HSET', limiter.key, limiter.permits, text)
  elseif limiter.counted then
    redis.call('HDEL', limiter.key, limiter.permits)
  end
end
