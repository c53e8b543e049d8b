-- How many permits there are. Expired permits are reclaimed, as Redisson does, and then the first in the line is woken up.
-- KEYS permits, timeouts, queue
-- ARGV channel, grants, publish
-- returns [integer exists, integer available, integer acquired] exists: 1 if there is such a semaphore

local over, reaped = reclaimExpired(permits, timeouts, serverNow(), 0)
local text = textOf(permits)
local available = whole(text or '0')
if not available then
  return redis.error_reply('WRONGKIND a text that is no count')
end
if reaped > 0 then
  local head = redis.pcall('LINDEX', queue, 0)
  if type(head) == 'string' then redis.pcall(publish, grants .. ':' .. string.sub(head, 1, 36), '0') end
  publishPermits(channel, publish, available)
end
return { text and 1 or 0, text and available + over or 0, redis.call('ZCARD', timeouts) - over }
