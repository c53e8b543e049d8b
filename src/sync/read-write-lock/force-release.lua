-- Takes the lock from all who read, or from who writes and the reads of its own.
-- KEYS[1] lock
-- KEYS[2] channel
-- KEYS[3] turn
-- ARGV[1] mode
-- ARGV[2] message
-- ARGV[3] companion
-- ARGV[4] grace (ms)
-- ARGV[5] publish
-- returns integer 1 when it was held so, 0 when not
local lock, channel, turn = KEYS[1], KEYS[2], KEYS[3]
local mode, message, companion, grace, publish = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
--include count-of
--include end-reads
--include pass-turn
--include wrong-kind

local found = redis.call('HGET', lock, 'mode')
if found ~= mode then
  local foreign = found ~= 'read' and found ~= 'write' and redis.call('EXISTS', lock) == 1
  return foreign and wrongKind(lock) or 0
end
endReads(lock, companion)
redis.call('DEL', lock)
passTurn(turn, mode, grace)
-- Freed is freed, also where telling it is refused.
redis.pcall(publish, channel, message)
return 1
