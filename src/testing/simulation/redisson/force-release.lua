-- Releases the lock by force, and wakes up the head of the line.
-- KEYS lock, queue, deadlines, channel
-- ARGV word, now (ms), publish
-- returns integer 1 it was held, 0 it was free

prune(queue, deadlines, now)
if redis.call('DEL', lock) == 0 then
  return 0
end
local head = redis.call('LINDEX', queue, 0)
if head then
  redis.call(publish, channel .. ':' .. head, word)
end
return 1
