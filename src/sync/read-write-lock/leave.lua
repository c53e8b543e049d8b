-- Who had the next turn waits no more: the others need not wait for it.
-- KEYS[1] turn
-- KEYS[2] channel
-- ARGV[1] mark
-- ARGV[2] publish
-- returns integer 1 given up, 0 it was not its turn
local turn, channel = KEYS[1], KEYS[2]
local mark, publish = ARGV[1], ARGV[2]

if redis.call('GET', turn) ~= mark then
  return 0
end
redis.call('DEL', turn)
redis.pcall(publish, channel, '1')
return 1
