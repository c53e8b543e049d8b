-- Adds permits, or removes some, and keeps the expiry. New permits go to the line, or to outsiders, who wait for a message. If asked again
-- under the same note, does it only once; what was refused stays refused.
-- KEYS permits, note, queue, deadlines, amounts, turn, timeouts
-- ARGV amount (integer text), client, own (count), channel, grants, publish
-- returns integer how many are available now

-- This write needs no memory. After it, a server short of memory accepts the others.
if redis.call('PEXPIRE', note, math.max(leftOf(note), 1)) == 1 then
  return whole(textOf(permits)) or 0
end
if not addToCount(textOf(permits) or '0', amount) then
  return redis.error_reply('WRONGKIND a text that is no count, or one too large')
end
local available = redis.call('INCRBY', permits, amount)
redis.call('SET', note, 1, 'PX', LONG_NOTE_TIME)
local line = lineOf({ permits, queue, deadlines, amounts, turn }, { channel, grants, publish }, client, own)
line.timeouts, line.over, line.most, line.visits, line.added = timeouts, 0, MOST_GRANTED, 1, tonumber(amount)
handOverPermits(line, available, false)
return available
