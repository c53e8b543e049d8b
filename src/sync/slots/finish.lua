-- Writes how a run of a slot has ended, if the slot is still that run's.
-- KEYS[1] slot
-- ARGV[1] run
-- ARGV[2] state or an empty text: it never began, and the slot is as if nobody had claimed it
-- ARGV[3] kept (ms)
-- returns integer 1 written, 0 it is another's, or gone
local slot = KEYS[1]
local run, state, kept = ARGV[1], ARGV[2], ARGV[3]
--include server-now

if redis.call('HGET', slot, 'run') ~= run then
  return 0
end
if state == '' then
  redis.call('DEL', slot)
  return 1
end
redis.call('PEXPIRE', slot, kept)
redis.call('HSET', slot, 'state', state, 'ended', serverNow())
return 1
