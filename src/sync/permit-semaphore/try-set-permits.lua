-- Makes the semaphore where there is none. Asked again under the same note, it tells again whether it did.
-- KEYS[1] permits
-- KEYS[2] channel
-- KEYS[3] note
-- ARGV[1] amount (count)
-- ARGV[2] publish
-- returns integer 1 made, 0 when it was there
local permits, channel, note = KEYS[1], KEYS[2], KEYS[3]
local amount, publish = ARGV[1], ARGV[2]
--include tell
--include whole

local before = redis.call('GET', note)
if before then
  return whole(before) or 0
end
local made = redis.call('EXISTS', permits) == 0 and 1 or 0
redis.call('SET', note, made, 'PX', 120000)
if made == 0 then
  return 0
end
redis.call('SET', permits, amount)
tell(channel, publish, tonumber(amount))
return 1
