-- Gives permits back by their ids: all, or none when one of them is unknown, expired or given back. Asked again under the
-- same note, it tells again that it did.
-- KEYS[1] permits
-- KEYS[2] channel
-- KEYS[3] timeouts
-- KEYS[4] note
-- ARGV[1] publish
-- ARGV[2..] ids
-- returns integer processes told, -1 when nothing was given back
local permits, channel, timeouts, note = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local publish = ARGV[1]
local ids = ARGV
--include member-of
--include or-undo
--include reap
--include server-now
--include tell

-- A write that needs no memory: after it, a server short of memory lets the others pass.
if redis.call('PEXPIRE', note, 120000) == 1 then
  return 0
end
local now, scores = serverNow(), {}
for i = 2, #ids do
  local ends = redis.call('ZSCORE', timeouts, memberOf(ids[i]))
  if not ends or tonumber(ends) <= now then
    return -1
  end
  scores[i] = ends
end
local over = reap(permits, timeouts, channel, publish, now, 0)
for i = 2, #ids do
  redis.call('ZREM', timeouts, memberOf(ids[i]))
end
local exists, available = redis.call('EXISTS', permits) == 1, 0
if exists then
  -- Where the count may not be changed they stay taken.
  available = redis.pcall('INCRBY', permits, #ids - 1)
  if type(available) == 'table' then
    for i = 2, #ids do redis.call('ZADD', timeouts, scores[i], memberOf(ids[i])) end
    return available
  end
end
redis.call('SET', note, 1, 'PX', 120000)
return tell(channel, publish, exists and available + over or 0)
