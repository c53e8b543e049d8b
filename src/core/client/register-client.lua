-- A client counts for so long from now on; 0: no longer, because it has closed. A few others whose time is over are removed.
-- KEYS register
-- ARGV client, stays (ms)
-- returns integer how many others were removed

local kind = redis.call('TYPE', register).ok
-- Another program has written something else there, which would keep every client out.
if kind ~= 'zset' and kind ~= 'none' then redis.call('UNLINK', register) end
local now, left = serverNow(), redis.call('PTTL', register)
local over = membersAt(register, 0, 100, now)
if stays > 0 then
  redis.call('ZADD', register, now + stays, client)
else
  redis.call('ZREM', register, client)
end
for i = 1, #over, 2 do
  if over[i] ~= client then redis.call('ZREM', register, over[i]) end
end
-- The key lasts as long as the last of them, but no score that a stranger wrote makes it last longer.
local last = tonumber((redis.call('ZRANGE', register, -1, -1, 'WITHSCORES')[2])) or math.huge
local most = now + math.max(stays, left)
-- Without the permission for it, no key stays behind that never expires.
if type(redis.pcall('PEXPIREAT', register, math.min(last, most))) == 'table' then
  redis.call('ZREM', register, client)
end
return #over / 2
