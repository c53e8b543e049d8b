-- Acquires permits for the calls of one process, in their order, for as many calls as there is room for in the window. A call is known
-- by its bytes, the last four of which say how many permits it wants; if it is repeated, it finds what it has. A note says that the
-- calls were given up meanwhile.
-- KEYS limiter, value, ownValue, permits, ownPermits, note, order
-- ARGV calls[1..] (bytes)
-- returns [integer served, integer remaining, integer left] how many of the calls have theirs, -1 before a rate is set, -2 if the first
-- wants more than the rate, -3 if others may stand in a line for them; how many permits are left; ms until the next call could have its
-- own, 0 if that is known only when it asks again, which it may do at once

local it, problem = limiterOf(limiter, value, ownValue, permits, ownPermits)
if not it then
  return problem or { -1, 0, 0 }
end
local wanted, all = {}, 0
for place, call in ipairs(calls) do
  wanted[place] = struct.unpack('<I4', call, #call - 3)
  all = all + wanted[place]
end
if wanted[1] > it.rate then
  return { -2, it.rate, 0 }
end
if redis.call('EXISTS', note, order) > 0 then
  return { redis.call('EXISTS', note) == 1 and 0 or -3, 0, 1 }
end
local now = serverNow()
moveWindow(it, now, all)
local served = 0
for place, call in ipairs(calls) do
  if wanted[place] <= it.left then
    it.left = it.left - wanted[place] * redis.call('ZADD', it.permits, 'NX', now, call)
  elseif not redis.call('ZSCORE', it.permits, call) then
    break
  end
  served = place
end
saveLimiter(it)
local gone = it.behind and not it.count and redis.call('ZCOUNT', it.permits, '-inf', now - it.interval) or 0
local remaining = math.min(it.rate, math.max(0, it.left) + gone)
if it.behind and served < #calls then
  return { served, remaining, 0 }
end
return { served, remaining, served < #calls and permitsFreeIn(it, wanted[served + 1], now) or 1 }
