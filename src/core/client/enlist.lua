-- A client is connected, or still is: from now on it counts for one lease. A few whose time is over are removed.
-- KEYS register
-- ARGV client, lease (ms)
-- returns integer how many were removed

local now = serverNow()
redis.call('ZADD', register, now + lease, client)
-- Without the permission for it, no key stays behind that never expires.
if type(redis.pcall('PEXPIRE', register, 2 * lease)) == 'table' then
  redis.call('ZREM', register, client)
end
local over = membersAt(register, 0, 100, now)
for i = 1, #over, 2 do redis.call('ZREM', register, over[i]) end
return #over / 2
