-- Sets how many permits there are in all, those that are acquired included. If asked again under the same note, does it only once: others
-- may have set the number again since.
-- KEYS permits, note, queue, deadlines, amounts, turn, timeouts
-- ARGV amount (count), client, own (count), channel, grants, publish
-- returns integer how many more there are now, negative for fewer

if redis.call('EXISTS', note) == 1 then
  return 0
end
local line = lineOf({ permits, queue, deadlines, amounts, turn }, { channel, grants, publish }, client, own)
line.timeouts, line.over, line.most, line.visits = timeouts, 0, MOST_GRANTED, 1
line.over = reclaimExpired(permits, timeouts, line.now, 0)
local text = textOf(permits)
local before = whole(text or '0')
if not before then
  return redis.error_reply('WRONGKIND a text that is no count')
end
local more = amount - (text and before + redis.call('ZCARD', timeouts) or line.over)
redis.call('SET', note, 1, 'PX', NOTE_TIME)
handOverPermits(line, redis.call('INCRBY', permits, more) + line.over, false)
return more
