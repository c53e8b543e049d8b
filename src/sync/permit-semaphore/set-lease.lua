-- Sets how long a permit lasts from now on, also when that is shorter. Never takes anew what is over. Asked again under the same note,
-- it is done once: the lease may have been set anew since.
-- KEYS timeouts, note
-- ARGV id, lease (ms)
-- returns integer 1 done, 0 when it is unknown, expired or given back

-- A write that needs no memory: after it, a server short of memory lets the others pass.
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
