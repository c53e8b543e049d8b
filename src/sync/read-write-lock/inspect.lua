-- Who holds the lock, in which mode, how often, and for how long. Where there are many, some of them at a time.
-- KEYS[1] lock
-- ARGV[1] companion
-- ARGV[2] from where to go on, 0 at first
-- returns [integer ttl, string next, string[pairs] fields and values in turn, integer[] left] ttl in ms, -1 without expiry, -2 when
-- free; where to go on, 0 when that is all; for how many ms each field's read goes on, 0 when it died or is none
local lock = KEYS[1]
local companion, from = ARGV[1], ARGV[2]
--include reads-left
--include wrong-kind

local ttl, mode = redis.call('PTTL', lock), redis.call('HGET', lock, 'mode')
if ttl ~= -2 and mode ~= 'read' and mode ~= 'write' then
  return wrongKind(lock)
end
local found, left, work = redis.call('HSCAN', lock, from, 'COUNT', 500), {}, { looks = 2000 }
local fields = found[2]
for i = 1, #fields, 2 do
  left[#left + 1] = readsLeft({ fields[i], fields[i + 1] }, companion, math.huge, work)
end
return { ttl, found[1], fields, left }
