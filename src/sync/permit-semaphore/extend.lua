-- Lets a permit last at least so long from now on. Never shortens, and never takes anew what is over.
-- KEYS timeouts
-- ARGV id, lease (ms)
-- returns integer ms left, -1 when it never expires, -2 when it is unknown, expired or given back

local member = memberOf(id)
local ends = redis.call('ZSCORE', timeouts, member)
local now = serverNow()
if not ends or tonumber(ends) <= now then
  return -2
elseif ends == NEVER then
  return -1
end
lease = math.max(lease, math.min(tonumber(ends) - now, MAX_SAFE_INTEGER))
redis.call('ZADD', timeouts, now + lease, member)
return lease
