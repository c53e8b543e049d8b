-- Creates the semaphore if there is none. If asked again under the same note, returns the same answer.
-- KEYS permits, note, queue, deadlines, amounts, turn, timeouts
-- ARGV amount (count text), client, own (count), channel, grants, publish
-- returns integer 1 created, 0 if it was there

local before = textOf(note)
if before then
  return whole(before) or 0
end
local made = redis.call('EXISTS', permits) == 0 and 1 or 0
redis.call('SET', note, made, 'PX', NOTE_TIME)
if made == 0 then
  return 0
end
redis.call('SET', permits, amount)
local line = lineOf({ permits, queue, deadlines, amounts, turn }, { channel, grants, publish }, client, own)
line.timeouts, line.over, line.most, line.visits = timeouts, 0, MOST_GRANTED, 1
handOverPermits(line, tonumber(amount), false)
return 1
