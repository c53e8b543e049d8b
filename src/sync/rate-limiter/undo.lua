-- Undoes calls that were given up: releases their permits, if they acquired any, and voids a late copy of their request.
-- KEYS limiter, value, ownValue, permits, ownPermits, note, channel, order, places
-- ARGV publish, counted, grants, calls[4..] (bytes)
-- returns integer permits released

-- First: if a script begins with a write that needs no memory, a server short of memory accepts its other writes, too.
redis.call('PEXPIRE', note, NOTE_TIME)
textOf(note)
local it = limiterOf(limiter, value, ownValue, permits, ownPermits)
local stored, taken = it and whole(textOf(it.value)), 0
for place = 4, it and #calls or 0 do
  local call = calls[place]
  taken = taken + redis.call('ZREM', it.permits, call) * struct.unpack('<I4', call, #call - 3)
end
redis.call('SET', note, 0, 'PX', NOTE_TIME)
if stored and taken > 0 then
  if it.count then
    -- It may have been counted already: the count begins again.
    redis.call('HSET', it.key, it.permits, '0 0 0')
  else
    redis.call('INCRBY', it.value, math.max(0, math.min(taken, it.rate - stored)))
  end
  publishPermits(channel, publish, taken)
  pcall(function()
    wakeNext(lineOf(order, places, grants, publish, counted))
  end)
end
return taken
