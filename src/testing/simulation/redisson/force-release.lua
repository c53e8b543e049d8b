-- Takes the lock from whoever holds it, and wakes the head of the line.
-- KEYS[1] lock
-- KEYS[2] queue
-- KEYS[3] deadlines
-- KEYS[4] channel
-- ARGV[1] word
-- ARGV[2] now (ms)
-- ARGV[3] publish
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
