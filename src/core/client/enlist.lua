-- A client is connected, or still is: from now on it counts for so long, unless it counts for longer already. A few whose time is over are removed.
-- KEYS register
-- ARGV client, stays (ms)
-- returns integer how many were removed

local now = serverNow()
local till = now + stays
if (tonumber(redis.call('ZSCORE', register, client) or 0) or 0) < till then
  redis.call('ZADD', register, till, client)
end
-- Without the permission for it, no key stays behind that never expires.
if redis.call('PTTL', register) < stays and type(redis.pcall('PEXPIRE', register, 2 * stays)) == 'table' then
  redis.call('ZREM', register, client)
end
local over = membersAt(register, 0, 100, now)
for i = 1, #over, 2 do redis.call('ZREM', register, over[i]) end
return #over / 2
