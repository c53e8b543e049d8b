-- Sets how long a permit lasts from now on, even if that is shorter. Never acquires again what has expired. If asked again under the same
-- note, does it only once: the lease may have been set again since.
-- KEYS timeouts, note
-- ARGV id, lease (ms)
-- returns integer 1 done, 0 if it is unknown, expired or released

-- This write needs no memory. After it, a server short of memory accepts the others.
if redis.call('PEXPIRE', note, NOTE_TIME) == 1 then
  return 1
end
local member, now = memberOf(id), serverNow()
local ends = redis.call('ZSCORE', timeouts, member)
if not ends or tonumber(ends) <= now then
  return 0
end
redis.call('ZADD', timeouts, now + lease, member)
orUndo(function()
  redis.call('ZADD', timeouts, ends, member)
end, redis.call, 'SET', note, 1, 'PX', NOTE_TIME)
return 1
