-- How many permits there are; those whose time is over are given back.
-- KEYS[1] permits
-- KEYS[2] timeouts
-- KEYS[3] channel
-- ARGV[1] publish
-- returns [integer exists, integer available, integer acquired] exists: 1 when there is such a semaphore
local permits, timeouts, channel = KEYS[1], KEYS[2], KEYS[3]
local publish = ARGV[1]
--include or-undo
--include reap
--include server-now
--include whole

local over = reap(permits, timeouts, channel, publish, serverNow(), 0)
local text = redis.call('GET', permits)
local available = whole(text or '0')
if not available then
  return redis.error_reply('WRONGKIND a text that is no count')
end
return { text and 1 or 0, text and available + over or 0, redis.call('ZCARD', timeouts) - over }
