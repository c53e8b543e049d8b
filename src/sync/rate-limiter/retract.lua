-- Gives back what calls took that were given up, if they took anything, and voids a copy of their request that comes late.
-- KEYS[1] limiter
-- KEYS[2] value
-- KEYS[3] ownValue
-- KEYS[4] permits
-- KEYS[5] ownPermits
-- KEYS[6] note
-- KEYS[7] channel
-- ARGV[1] publish
-- ARGV[2..] calls (bytes)
-- returns integer permits given back
local limiter, value, ownValue, permits, ownPermits = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local note, channel = KEYS[6], KEYS[7]
local publish = ARGV[1]
local calls = ARGV
--include whole
--include wrong-kind
--include rate-of
--include limiter-of
--include tell

-- First: a server short of memory lets a script write on that has begun with what needs none.
redis.call('PEXPIRE', note, 120000)
redis.call('GET', note)
redis.call('SET', note, 0, 'PX', 120000)
local it = limiterOf(limiter, value, ownValue, permits, ownPermits)
local taken = 0
for place = 2, it and #calls or 0 do
  local call = calls[place]
  taken = taken + redis.call('ZREM', it.permits, call) * struct.unpack('<I4', call, #call - 3)
end
local stored = taken > 0 and redis.call('GET', it.value)
if stored then
  if it.count then
    -- It may have been among those that are counted: they are counted anew.
    redis.call('HSET', it.key, it.permits, '0 0 0')
  else
    redis.call('INCRBY', it.value, math.max(0, math.min(taken, it.rate - stored)))
  end
  tell(channel, publish, taken)
end
return taken
