-- Undoes an acquire whose answer was lost: releases its permits, if it acquired any, and voids a late copy of it.
-- KEYS permits, note, queue, deadlines, amounts, turn, timeouts
-- ARGV client, own (count), channel, grants, publish, ids[6..]
-- returns integer permits released

-- If something else is stored at the note, this fails before anything is done.
textOf(note)
local taken, scores = 0, {}
for i = 6, #ids do
  scores[i] = redis.call('ZSCORE', timeouts, memberOf(ids[i]))
  taken = taken + (scores[i] and 1 or 0)
end
local before = taken > 0 and textOf(permits)
if before and not addToCount(before, taken) then
  return redis.error_reply('WRONGKIND a text that is no count, or one too large')
end
for i = 6, #ids do
  if scores[i] then redis.call('ZREM', timeouts, memberOf(ids[i])) end
end
local available
if before then
  available = redis.pcall('INCRBY', permits, taken)
  -- If the server refuses to change the count, they stay acquired until their lease ends.
  if type(available) == 'table' then
    for i = 6, #ids do
      if scores[i] then redis.call('ZADD', timeouts, scores[i], memberOf(ids[i])) end
    end
    return available
  end
end
redis.call('SET', note, 1, 'PX', NOTE_TIME)
if available then
  local line = lineOf({ permits, queue, deadlines, amounts, turn }, { channel, grants, publish }, client, own)
  line.timeouts, line.over, line.most, line.visits, line.added = timeouts, 0, MOST_GRANTED, 1, taken
  handOverPermits(line, available, false)
end
return taken
