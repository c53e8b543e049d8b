-- How many permits there are.
-- KEYS[1] limiter
-- KEYS[2] value
-- KEYS[3] ownValue
-- KEYS[4] permits
-- KEYS[5] ownPermits
-- ARGV[1] enough (count)
-- returns integer permits, or at least enough of them; -1 before a rate is set
local limiter, value, ownValue, permits, ownPermits = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local enough = tonumber(ARGV[1])
--include whole
--include wrong-kind
--include rate-of
--include limiter-of
--include move-window
--include server-now

local it, problem = limiterOf(limiter, value, ownValue, permits, ownPermits)
if not it then
  return problem or -1
end
moveWindow(it, serverNow(), math.min(enough, it.rate))
-- Where nothing is written down, looking writes nothing; and it does not keep the limiter alive.
if it.stored and it.stored ~= it.left then
  redis.call('INCRBY', it.value, it.left - it.stored)
end
return math.max(0, it.left)
