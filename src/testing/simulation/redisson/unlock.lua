-- Releases one level; after the last one, wakes up the head of the line. If nobody holds the lock, that is no error.
-- KEYS lock, queue, deadlines, channel, latch
-- ARGV word, lease (ms text), owner, now (ms), publish, memory (ms text)
-- returns nil another's | integer 1 free, 0 still held

local said = redis.call('GET', latch)
if said then
  return tonumber(said)
end
prune(queue, deadlines, now)
if redis.call('EXISTS', lock) == 1 then
  if redis.call('HEXISTS', lock, owner) == 0 then
    return nil
  end
  if redis.call('HINCRBY', lock, owner, -1) > 0 then
    redis.call('PEXPIRE', lock, lease)
    redis.call('SET', latch, 0, 'PX', memory)
    return 0
  end
  redis.call('DEL', lock)
end
redis.call('SET', latch, 1, 'PX', memory)
local head = redis.call('LINDEX', queue, 0)
if head then
  redis.call(publish, channel .. ':' .. head, word)
end
return 1
