-- Ends a write, whatever its count, and wakes all who wait. Where its owner reads, too, it goes on as a read.
-- KEYS[1] lock
-- KEYS[2] channel
-- KEYS[3] turn
-- ARGV[1] owner
-- ARGV[2] companion
-- ARGV[3] grace (ms)
-- ARGV[4] publish
-- returns integer processes told, -1 when it was not this owner's
local lock, channel, turn = KEYS[1], KEYS[2], KEYS[3]
local owner, companion, grace, publish = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
--include reads-left
--include outlives
--include pass-turn

if redis.call('HDEL', lock, owner) == 0 then
  return -1
end
local left = redis.call('PTTL', lock)
local longest = outlives(lock, companion, left, left, math.huge, { looks = 2000 })
if longest > 0 then
  redis.call('HSET', lock, 'mode', 'read')
  redis.call('PEXPIRE', lock, longest)
else
  redis.call('DEL', lock)
end
passTurn(turn, 'write', grace)
local told = redis.pcall(publish, channel, '1')
return type(told) == 'number' and told or 0
