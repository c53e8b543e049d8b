-- Ends a read, whatever its count; also what is left of one whose lock is gone. The last one frees the lock and wakes one
-- waiter of each process; else the lock lasts as long as the reads that go on, where they are many a little longer. Readers
-- that died do not count.
-- KEYS[1] lock
-- KEYS[2] channel
-- KEYS[3] turn
-- KEYS[4] levels
-- ARGV[1] owner
-- ARGV[2] companion
-- ARGV[3] grace (ms)
-- ARGV[4] publish
-- returns integer processes told, -1 when it was not this owner's
local lock, channel, turn, levels = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local owner, companion, grace, publish = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
--include count-of
--include drop-levels
--include reads-left
--include outlives
--include pass-turn

local count, left = redis.call('HGET', lock, owner), redis.call('PTTL', lock)
local work = { looks = 2000 }
local own = readsLeft({ owner, count or '' }, companion, left, work)
dropLevels(levels, countOf(count))
if redis.call('HDEL', lock, owner) == 0 then
  return -1
end
-- Under a write of its own: that has no key but the lock to last by.
if redis.call('HGET', lock, 'mode') == 'write' then
  return 0
end
local longest = outlives(lock, companion, left, own, 64, work)
if longest > 0 then
  if longest ~= left then
    redis.call('PEXPIRE', lock, longest)
  end
  return 0
end
redis.call('DEL', lock)
passTurn(turn, 'read', grace)
local told = redis.pcall(publish, channel, '0')
return type(told) == 'number' and told or 0
