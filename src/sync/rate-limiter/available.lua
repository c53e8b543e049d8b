-- How many permits there are.
-- KEYS limiter, value, ownValue, permits, ownPermits
-- ARGV enough (count)
-- returns [integer permits, integer behind] how many, or at least enough of them, -1 before a rate is set; 1 if there
-- may be more than was looked at

local it, problem = limiterOf(limiter, value, ownValue, permits, ownPermits)
if not it then
  return problem or { -1, 0 }
end
moveWindow(it, serverNow(), math.min(enough, it.rate))
-- If nothing is written down, looking writes nothing; and it never keeps the limiter alive.
if it.stored or it.count or it.counted then
  saveValue(it)
  local expiry = it.stored and 0 or leftOf(it.permits)
  if expiry > 0 then
    redis.call('PEXPIRE', it.value, expiry)
  end
end
return { math.max(0, it.left), it.behind and 1 or 0 }
