-- Adds permits, or takes some away, keeping the expiry, and tells waiters when there are any. Asked again under the same
-- note, it is done once; what was refused stays refused. The note lasts for as long as who gives back may ask again.
-- KEYS[1] permits
-- KEYS[2] channel
-- KEYS[3] note
-- ARGV[1] amount (integer)
-- ARGV[2] publish
-- ARGV[3] always (count)
-- returns integer processes told, -1 when there is no such semaphore and it need not be made
local permits, channel, note = KEYS[1], KEYS[2], KEYS[3]
local amount, publish, always = ARGV[1], ARGV[2], ARGV[3]
--include tell

-- A write that needs no memory: after it, a server short of memory lets the others pass.
if redis.call('PEXPIRE', note, math.max(redis.call('PTTL', note), 1)) == 1 then
  return redis.call('GET', note) == '0' and -1 or 0
end
if always == '0' and redis.call('EXISTS', permits) == 0 then
  redis.call('SET', note, 0, 'PX', 3600000)
  return -1
end
local available = redis.call('INCRBY', permits, amount)
redis.call('SET', note, 1, 'PX', 3600000)
return tell(channel, publish, available)
