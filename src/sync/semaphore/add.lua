-- Adds permits, or removes some, and keeps the expiry. New permits go to the line, or to outsiders, who wait for a message. If asked again
-- under the same note, does it only once; what was refused stays refused. The note lasts for as long as a release may be repeated.
-- KEYS permits, note, queue, deadlines, amounts, turn
-- ARGV amount (integer text), always (count text), client, own (count), visits (count), channel, grants, publish
--   client: its id, or its place in the line, which no call there needs any more
-- returns integer 1 done, -1 if there is no such semaphore and it was not to be created

-- This write needs no memory. After it, a server short of memory accepts the others.
if redis.call('PEXPIRE', note, math.max(leftOf(note), 1)) == 1 then
  return textOf(note) == '0' and -1 or 1
end
local before = textOf(permits)
if always == '0' and not before then
  redis.call('SET', note, 0, 'PX', LONG_NOTE_TIME)
  return -1
end
if not addToCount(before or '0', amount) then
  return redis.error_reply('WRONGKIND a text that is no count, or one too large')
end
local available = redis.call('INCRBY', permits, amount)
redis.call('SET', note, 1, 'PX', LONG_NOTE_TIME)
local lined = redis.call('EXISTS', queue, deadlines) > 0
if not lined and publishPermits(channel, publish, available) <= (own == 1 and 1 or 0) then
  return 1
end
--functions

local line = lineOf({ permits, queue, deadlines, amounts, turn }, { channel, grants, publish }, client, own)
line.visits, line.left, line.added = visits, available, amount
if #client > 36 then
  pcall(leaveLine, line, client)
end
handOverPermits(line, line.left, not lined)
return 1
