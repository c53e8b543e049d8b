-- Takes the lock from whoever holds it; the next in the queue is told.
-- KEYS[1] lock
-- KEYS[2] queue
-- KEYS[3] deadlines
-- ARGV[1] channel
-- ARGV[2] publish
-- returns integer 1 when it was held, 0 when it was free
local lock, queue, deadlines = KEYS[1], KEYS[2], KEYS[3]
local channel, publish = ARGV[1], ARGV[2]
--include line/places-at
--include classic-fair-lock/remove-overdue
--include holder-of
--include wrong-kind

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
  -- Freed is freed, also where telling it is refused.
  redis.pcall(publish, channel .. ':' .. head, '0')
end
return 1
