-- Releases the lock of its owner, whatever the count, or takes a waiter out of the queue, as a Redisson client before version 4
-- does. Since 3.11, places count, and those behind move up; before that, all do if it was the head. If the lock is free then, the
-- next in the queue is woken up.
-- KEYS lock, queue, deadlines
-- ARGV owner, allowance (ms), counted, channel, publish
-- returns integer 1 released, 0 only waited, -1 neither held nor waited

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
    -- Such a line is not searched: the place becomes long overdue, and is removed once it is at the head.
    waited = redis.call('ZADD', deadlines, 'XX', 'CH', 1, owner) == 1
  end
end
if not waited then
  local time = redis.call('TIME')
  removeOverdue(queue, deadlines, time[1] * 1000 + math.floor(time[2] / 1000))
end
-- Redisson's own clients leave without a message, even if it was their turn, and the next finds out when its time is over.
if (wasHead or not waited) and redis.call('EXISTS', lock) == 0 then
  local head = redis.call('LINDEX', queue, 0)
  if head and #head < LONGEST_NAME then
    -- The lock is free even if the server refuses the message.
    redis.pcall(publish, channel .. ':' .. head, '0')
  end
end
return held and 1 or waited and 0 or -1
