-- Gives back what an acquire took whose answer was lost, if it took anything, and voids a copy of it that comes late.
-- KEYS[1] permits
-- KEYS[2] channel
-- KEYS[3] note
-- ARGV[1] publish
-- returns integer permits given back
local permits, channel, note = KEYS[1], KEYS[2], KEYS[3]
local publish = ARGV[1]
--include tell
--include whole

-- First: a server short of memory lets a script write on that has begun with what needs none.
redis.call('PEXPIRE', note, 120000)
local taken = whole(redis.call('GET', note)) or 0
redis.call('SET', note, 0, 'PX', 120000)
if taken == 0 or redis.call('EXISTS', permits) == 0 then
  return 0
end
local available = redis.pcall('INCRBY', permits, taken)
if type(available) == 'table' then
  -- Not given back: the note says so still.
  redis.call('SET', note, taken, 'PX', 3600000)
  return available
end
tell(channel, publish, available)
return taken
