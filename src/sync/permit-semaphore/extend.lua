-- Makes a permit last at least this long from now on. Never shortens it, and never acquires again what has expired.
-- KEYS timeouts
-- ARGV id, lease (ms)
-- returns integer ms left, -1 if it never expires, -2 if it is unknown, expired or released

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
