-- Frees the lock of its owner, whatever the count, or takes a waiter out of the queue, as a Redisson before version 4 does:
-- those behind move up, where places are counted on (since 3.11); before that all do, when it was the head. What is free
-- then is told to the next.
-- KEYS lock, queue, deadlines
-- ARGV owner, allowance (ms), counted, channel, publish
-- returns integer 1 freed, 0 only waited, -1 neither held nor waited

local wasHead = redis.call('LINDEX', queue, 0) == owner
local held = redis.pcall('HEXISTS', lock, owner) == 1
local waited = false
if held then
  redis.call('UNLINK', lock)
else
  local waiting = counted == '1' and placesAt(queue, 0, 2000) or {}
  local some = counted ~= '1' and wasHead and membersAt(deadlines, 0, 2000) or {}
  for i = 1, #some, 2 do waiting[#waiting + 1] = some[i] end
  local moves = wasHead
  for _, other in ipairs(waiting) do
    if other == owner then
      moves = true
    elseif moves then
      redis.call('ZINCRBY', deadlines, -allowance, other)
    end
  end
  if redis.call('LLEN', queue) <= LINE_SEARCHED then
    waited = redis.call('ZREM', deadlines, owner) + redis.call('LREM', queue, 0, owner) > 0
  else
    -- Such a line is not searched: long overdue, it goes when it is at the head.
    waited = redis.call('ZADD', deadlines, 'XX', 'CH', 1, owner) == 1
  end
end
if not waited then
  local time = redis.call('TIME')
  removeOverdue(queue, deadlines, time[1] * 1000 + math.floor(time[2] / 1000))
end
-- Where it was its turn, Redisson's own leave without a word, and the next finds out when its time is over.
if (wasHead or not waited) and redis.call('EXISTS', lock) == 0 then
  local head = redis.call('LINDEX', queue, 0)
  if head and #head < LONGEST_NAME then
    -- Freed is freed, also where telling it is refused.
    redis.pcall(publish, channel .. ':' .. head, '0')
  end
end
return held and 1 or waited and 0 or -1
