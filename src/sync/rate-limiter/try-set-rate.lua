-- Sets a rate if there is none, and notifies those that wait for one. If asked again under the same note, returns the same answer.
-- KEYS limiter, note, channel, order, places
-- ARGV rate (count text), interval (ms text), scope (count text), keepAlive (ms), publish, counted, grants
-- returns integer 1 set, 0 if there was one

local before = textOf(note)
if before then
  return whole(before) or 0
end
local _, problem = rateOf(limiter)
if problem then
  return problem
end
redis.call('HSETNX', limiter, 'rate', rate)
redis.call('HSETNX', limiter, 'interval', interval)
redis.call('HSETNX', limiter, 'keepAliveTime', keepAlive)
local set = redis.call('HSETNX', limiter, 'type', scope)
if set == 1 and keepAlive > 0 then
  orUndo(function()
    redis.call('UNLINK', limiter)
  end, redis.call, 'PEXPIRE', limiter, keepAlive)
end
redis.call('SET', note, set, 'PX', NOTE_TIME)
if set == 1 then
  publishPermits(channel, publish, tonumber(rate))
  pcall(function()
    wakeNext(lineOf(order, places, grants, publish, counted))
  end)
end
return set
