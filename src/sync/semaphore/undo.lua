-- Undoes an acquire whose answer was lost: releases its permits, if it acquired any, and voids a late copy of it.
-- KEYS permits, note, queue, deadlines, amounts, turn
-- ARGV client, own (count), channel, grants, publish
-- returns integer permits released

-- First: if a script begins with a write that needs no memory, a server short of memory accepts its other writes, too.
redis.call('PEXPIRE', note, NOTE_TIME)
local taken = whole(textOf(note)) or 0
local before = taken > 0 and textOf(permits)
if before and not addToCount(before, taken) then
  redis.call('PEXPIRE', note, LONG_NOTE_TIME)
  return redis.error_reply('WRONGKIND a text that is no count, or one too large')
end
redis.call('SET', note, 0, 'PX', NOTE_TIME)
if not before then
  return 0
end
local available = redis.pcall('INCRBY', permits, taken)
if type(available) == 'table' then
  -- Not released: the note still says so.
  redis.call('SET', note, taken, 'PX', LONG_NOTE_TIME)
  return available
end
local line = lineOf({ permits, queue, deadlines, amounts, turn }, { channel, grants, publish }, client, own)
line.added = taken
handOverPermits(line, available, false)
return taken
