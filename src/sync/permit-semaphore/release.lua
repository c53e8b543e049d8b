-- Releases permits by their ids: all, or none if one of them is unknown, expired or released. They go to the line, or to outsiders, who
-- wait for a message. If asked again under the same note, says again that it did.
-- KEYS permits, note, queue, deadlines, amounts, turn, timeouts
-- ARGV client, own (count), visits (count), channel, grants, publish, ids[7..]
--   client: its id, or its place in the line, which no call there needs any more
-- returns integer 1 done, -1 if nothing was released

-- This write needs no memory. After it, a server short of memory accepts the others.
if redis.call('PEXPIRE', note, NOTE_TIME) == 1 then
  return 1
end
local now, scores = serverNow(), {}
for i = 7, #ids do
  local ends = redis.call('ZSCORE', timeouts, memberOf(ids[i]))
  if not ends or tonumber(ends) <= now then
    return -1
  end
  scores[i] = ends
end
local before, over, reaped = textOf(permits), 0, 0
if before and not addToCount(before, #ids) then
  return redis.error_reply('WRONGKIND a text that is no count, or one too large')
end
over, reaped = reclaimExpired(permits, timeouts, now, 0)
for i = 7, #ids do
  redis.call('ZREM', timeouts, memberOf(ids[i]))
end
local available = 0
if before then
  -- If the server refuses to change the count, they stay acquired.
  available = redis.pcall('INCRBY', permits, #ids - 6)
  if type(available) == 'table' then
    for i = 7, #ids do redis.call('ZADD', timeouts, scores[i], memberOf(ids[i])) end
    return available
  end
  available = available + over
end
redis.call('SET', note, 1, 'PX', NOTE_TIME)
local lined = redis.call('EXISTS', queue, deadlines) > 0
if not lined and publishPermits(channel, publish, available) <= (own == 1 and 1 or 0) then
  return 1
end
--functions

local line = lineOf({ permits, queue, deadlines, amounts, turn }, { channel, grants, publish }, client, own)
line.timeouts, line.most, line.visits = timeouts, MOST_GRANTED, visits
line.over, line.lapsed, line.left, line.added = over, reaped > 0, available, #ids - 6 + reaped
if #client > 36 then
  pcall(leaveLine, line, client)
end
handOverPermits(line, line.left, not lined)
return 1
