-- Adds permits, or takes some away, keeping the expiry, and tells who waits when there are any. Asked again under the same
-- note, it is done once.
-- KEYS[1] permits
-- KEYS[2] channel
-- KEYS[3] note
-- ARGV[1] amount (integer)
-- ARGV[2] publish
-- ARGV[3] always (count)
-- returns integer processes told, -1 when there is no such semaphore and it need not be made
local permits, channel, note = KEYS[1], KEYS[2], KEYS[3]
local amount, publish, always = ARGV[1], ARGV[2], ARGV[3]

-- A write that needs no memory: after it, a server short of memory lets the others pass.
if redis.call('PEXPIRE', note, 120000) == 1 then
  return 0
end
if always == '0' and redis.call('EXISTS', permits) == 0 then
  return -1
end
local available = redis.call('INCRBY', permits, amount)
redis.call('SET', note, 1, 'PX', 120000)
-- Redisson's listeners cannot take a count below 1. Added is added, also where telling it is refused.
local told = available > 0 and redis.pcall(publish, channel, available)
return type(told) == 'number' and told or 0
