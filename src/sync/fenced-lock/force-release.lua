-- Takes the lock from whoever holds it.
-- KEYS[1] lock
-- ARGV[1] channel
-- ARGV[2] publish
-- returns integer 1 when it was held, 0 when it was free
local lock = KEYS[1]
local channel = ARGV[1]
local publish = ARGV[2]
--include holder-of
--include wrong-kind

if holderOf(lock) == nil then
  return wrongKind(lock)
end
if redis.call('DEL', lock) == 0 then
  return 0
end
-- Freed is freed, also where telling it is refused.
redis.pcall(publish, channel, '0')
return 1
