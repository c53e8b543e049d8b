-- Sets another rate. What was granted still counts, or not (`keepState`). If asked again under the same note, does it only once;
-- what was refused stays refused.
-- KEYS limiter, value, ownValue, permits, ownPermits, note, channel, order, places
-- ARGV rate (count text), interval (ms text), scope (count text), keepAlive (ms), keepState (count text), always (count text), publish, counted, grants
-- returns integer 1 set, 2 set and the grants are not all counted yet, 0 if there is no limiter and it was not to be created

local done = textOf(note)
if done then
  return whole(done) or 0
end
if always == '0' and redis.call('EXISTS', limiter) == 0 then
  redis.call('SET', note, 0, 'PX', NOTE_TIME)
  return 0
end
local before, problem = rateOf(limiter)
if problem then
  return problem
end
-- What is not the state of a limiter causes an error here, before anything is written or deleted.
textOf(value)
textOf(ownValue)
redis.call('ZCARD', permits)
redis.call('ZCARD', ownPermits)
redis.call('HSET', limiter, 'rate', rate, 'interval', interval, 'type', scope, 'keepAliveTime', keepAlive)
redis.call('SET', note, 1, 'PX', NOTE_TIME)
if keepAlive > 0 then
  redis.call('PEXPIRE', limiter, keepAlive)
elseif before and (whole(before[4]) or 0) > 0 then
  -- The expiry came from the keep-alive that is over; an expiry that was set in another way stays.
  for _, key in ipairs({ limiter, value, ownValue, permits, ownPermits }) do
    redis.call('PERSIST', key)
  end
end
local it = limiterOf(limiter, value, ownValue, permits, ownPermits)
if before and before[3] ~= scope then
  redis.call('UNLINK', value, ownValue, permits, ownPermits)
  redis.call('HDEL', limiter, permits, ownPermits)
elseif keepState == '0' then
  redis.call('UNLINK', it.value, it.permits)
  redis.call('HDEL', limiter, it.permits)
else
  -- What is written down belongs to the earlier rate: the grants are counted again.
  redis.call('UNLINK', it.value)
  moveWindow(it, serverNow(), 0)
  saveLimiter(it)
end
publishPermits(channel, publish, tonumber(rate))
pcall(function()
  wakeNext(lineOf(order, places, grants, publish, counted))
end)
return it.count and 2 or 1
