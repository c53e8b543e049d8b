-- Takes permits for the calls of one process, in their order: for as many of them as there is room for in the window. A call
-- is known by its bytes, the last four of which say how many it wants: when it is asked for again it finds what it has. A note
-- says that it was given up meanwhile.
-- KEYS[1] limiter
-- KEYS[2] value
-- KEYS[3] ownValue
-- KEYS[4] permits
-- KEYS[5] ownPermits
-- KEYS[6] note
-- ARGV[1..] calls (bytes)
-- returns [integer served, integer remaining, integer left] how many of the calls have theirs, -1 before a rate is set, -2
-- when the first wants more than the rate; how many permits there are still; ms until
-- the next call could have its own, 0 where that is not known before it asks again, which it may at once
local limiter, value, ownValue, permits, ownPermits, note = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local calls = ARGV
--include whole
--include wrong-kind
--include rate-of
--include limiter-of
--include count-window
--include move-window
--include keep-value
--include keep-limiter
--include server-now

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
if redis.call('EXISTS', note) == 1 then
  return { 0, 0, 1 }
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
keepLimiter(it)
local gone = it.behind and not it.count and redis.call('ZCOUNT', it.permits, '-inf', now - it.interval) or 0
local remaining = math.min(it.rate, math.max(0, it.left) + gone)
if it.behind and served < #calls then
  return { served, remaining, 0 }
end
-- As many of the oldest grants as the next call needs must leave the window first. Where those are more than a thousand it is
-- asked again when these have left.
local missing = wanted[served + 1] and wanted[served + 1] - it.left or 0
local left, first = 0, 0
while missing > 0 and first < 1000 do
  local oldest = redis.call('ZRANGE', it.permits, first, first + math.min(missing, 100) - 1, 'WITHSCORES')
  first = first + 100
  for i = 1, #oldest, 2 do
    missing = missing - (#oldest[i] > 3 and struct.unpack('<I4', oldest[i], #oldest[i] - 3) or 0)
    left = math.ceil(oldest[i + 1]) + it.interval - now
    if missing <= 0 then
      break
    end
  end
  missing = #oldest > 0 and missing or 0
end
return { served, remaining, math.max(1, left) }
