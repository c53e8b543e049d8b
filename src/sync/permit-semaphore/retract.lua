-- Gives back what an acquire took whose answer was lost, if it took anything, and voids a copy of it that comes late.
-- KEYS[1] permits
-- KEYS[2] channel
-- KEYS[3] timeouts
-- KEYS[4] note
-- ARGV[1] publish
-- ARGV[2..] ids
-- returns integer permits given back
local permits, channel, timeouts, note = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local publish = ARGV[1]
local ids = ARGV
--include member-of
--include tell

-- What is no note of ours is met before anything is done.
redis.call('GET', note)
local taken, scores = 0, {}
for i = 2, #ids do
  scores[i] = redis.call('ZSCORE', timeouts, memberOf(ids[i]))
  taken = taken + redis.call('ZREM', timeouts, memberOf(ids[i]))
end
if taken > 0 and redis.call('EXISTS', permits) == 1 then
  local available = redis.pcall('INCRBY', permits, taken)
  -- Where the count may not be changed they stay taken, until their lease ends.
  if type(available) == 'table' then
    for i = 2, #ids do
      if scores[i] then redis.call('ZADD', timeouts, scores[i], memberOf(ids[i])) end
    end
    return available
  end
  tell(channel, publish, available)
end
redis.call('SET', note, 1, 'PX', 120000)
return taken
