-- Takes permits for the calls of one process, in their order: for as many of them as there are permits for. The note tells
-- what was taken to whoever asks again, and keeps a copy that comes late from taking more.
-- While permits are saved up for the first call of some process, others of ours take none. The note lasts for as long as the
-- permits may have to be given back by it.
-- KEYS[1] permits
-- KEYS[2] note
-- KEYS[3] reservation
-- KEYS[4] channel
-- ARGV[1] client
-- ARGV[2] reserve (ms)
-- ARGV[3] publish
-- ARGV[4..] wanted (count)
-- returns [integer calls, integer left, integer reserved] how many of the calls have theirs, -1 when no permits are set; ms for
-- which permits are saved up for others, -1 when there are just not enough; 1 when they are saved up for the first of these
local permits, note, reservation, channel = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local client, reserve, publish = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local wanted = ARGV
--include tell
--include whole

local notes = redis.call('MGET', note, reservation)
local before, savedFor = notes[1], notes[2]
local stored = before or redis.call('GET', permits)
if not stored then
  return { -1, -1, 0 }
end
local available = whole(stored)
if not before and savedFor and savedFor ~= client then
  return { 0, redis.call('PTTL', reservation), 0 }
end
if not available then
  return redis.error_reply('WRONGKIND a text that is no count')
end
local calls, taken = 0, 0
while wanted[calls + 4] and taken + tonumber(wanted[calls + 4]) <= available do
  calls = calls + 1
  taken = taken + tonumber(wanted[calls + 3])
end
if before then
  return { calls, -1, 0 }
end
if calls == 0 then
  if reserve > 0 then
    redis.call('GET', reservation)
    redis.call('SET', reservation, client, 'PX', reserve)
  end
  return { 0, -1, reserve > 0 and 1 or 0 }
end
-- MGET says nothing of what is no text.
if not redis.call('SET', note, taken, 'PX', 3600000, 'NX') then
  return redis.error_reply('WRONGKIND no note of ours')
end
-- What a user may not do leaves nothing done.
local done = redis.pcall('DECRBY', permits, taken)
if type(done) == 'table' then
  redis.call('SET', note, 0, 'PX', 3600000)
  return done
end
-- Others left these permits to it, and may have what is left of them.
if savedFor then
  redis.pcall('DEL', reservation)
  tell(channel, publish, done)
end
return { calls, -1, 0 }
