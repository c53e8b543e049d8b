-- Makes the semaphore where there is none. Asked again under the same note, it tells again that it did.
-- KEYS[1] permits
-- KEYS[2] channel
-- KEYS[3] note
-- ARGV[1] amount (count)
-- ARGV[2] expiry (ms)
-- ARGV[3] publish
-- returns integer 1 made, 0 when it was there
local permits, channel, note = KEYS[1], KEYS[2], KEYS[3]
local amount, expiry, publish = ARGV[1], tonumber(ARGV[2]), ARGV[3]

if redis.call('EXISTS', permits) == 1 then
  return redis.call('EXISTS', note)
end
redis.call('SET', permits, amount)
if expiry > 0 then
  redis.call('PEXPIRE', permits, expiry)
end
redis.call('SET', note, 1, 'PX', 120000)
if tonumber(amount) > 0 then
  redis.pcall(publish, channel, amount)
end
return 1
