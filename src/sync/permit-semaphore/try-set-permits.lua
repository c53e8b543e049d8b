-- Makes the semaphore where there is none. Asked again under the same note, it tells again whether it did.
-- KEYS[1] permits
-- KEYS[2] note
-- KEYS[3] queue
-- KEYS[4] deadlines
-- KEYS[5] amounts
-- KEYS[6] turn
-- KEYS[7] timeouts
-- ARGV[1] amount (count text)
-- ARGV[2] client
-- ARGV[3] own (count) 1: the caller may be counted among those who listen; 2: it hears no messages; 3: not all are counted
-- ARGV[4] channel
-- ARGV[5] grants
-- ARGV[6] publish
-- returns integer 1 made, 0 when it was there

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
handOver(line, tonumber(amount), false)
return 1
