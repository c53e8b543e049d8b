-- How many permits there are; those whose time is over count as given back.
-- KEYS[1] permits
-- KEYS[2] timeouts
-- returns [integer exists, integer available, integer acquired] exists: 1 when there is such a semaphore
local permits, timeouts = KEYS[1], KEYS[2]
--include server-now
--include whole

local over = redis.call('ZCOUNT', timeouts, '-inf', serverNow())
local text = redis.call('GET', permits)
local available = whole(text or '0')
if not available then
  return redis.error_reply('WRONGKIND a text that is no count')
end
return { text and 1 or 0, text and available + over or 0, redis.call('ZCARD', timeouts) - over }
