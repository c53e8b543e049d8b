-- Releases the lock by force, and wakes up the next in the queue.
-- KEYS lock, queue, deadlines
-- ARGV channel, publish
-- returns integer 1 if it was held, 0 if it was free

if holderOf(lock) == nil then
  return wrongKind(lock)
end
local time = redis.call('TIME')
removeOverdue(queue, deadlines, time[1] * 1000 + math.floor(time[2] / 1000))
if redis.call('UNLINK', lock) == 0 then
  return 0
end
local head = redis.call('LINDEX', queue, 0)
if head then
  -- The lock is free even if the server refuses the message.
  redis.pcall(publish, channel .. ':' .. head, '0')
end
return 1
