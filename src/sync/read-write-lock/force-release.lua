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
--include pass-turn

if redis.call('HGET', lock, 'mode') ~= mode then
  return 0
end
local fields = redis.call('HGETALL', lock)
redis.call('DEL', lock)
passTurn(turn, mode, grace)
for i = 1, #fields, 2 do
  for level = 1, tonumber(fields[i + 1]) or 0 do
    redis.call('DEL', companion .. ':' .. fields[i] .. ':rwlock_timeout:' .. level)
  end
end
-- Freed is freed, also where telling it is refused.
redis.pcall(publish, channel, message)
return 1
