-- Makes it so that there are so many permits in all, those that are taken included. Asked again under the same note, it is
-- done once: others may have set it anew.
-- KEYS[1] permits
-- KEYS[2] channel
-- KEYS[3] timeouts
-- KEYS[4] note
-- ARGV[1] amount (count)
-- ARGV[2] publish
-- returns integer how many more there are now, negative for fewer
local permits, channel, timeouts, note = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local amount, publish = tonumber(ARGV[1]), ARGV[2]
--include or-undo
--include reap
--include server-now
--include whole
--include tell

if redis.call('EXISTS', note) == 1 then
  return 0
end
local over = reap(permits, timeouts, channel, publish, serverNow(), 0)
local text = redis.call('GET', permits)
local before = whole(text or '0')
if not before then
  return redis.error_reply('WRONGKIND a text that is no count')
end
local more = amount - (text and before + redis.call('ZCARD', timeouts) or over)
redis.call('SET', note, 1, 'PX', 120000)
local available = redis.call('INCRBY', permits, more)
if more + over > 0 then
  tell(channel, publish, available + over)
end
return more
