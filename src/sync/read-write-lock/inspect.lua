-- Who holds the lock, in which mode, how often, and for how long.
-- KEYS[1] lock
-- ARGV[1] companion
-- returns [integer ttl, string[] fields and values in turn, integer[] left] ttl in ms, -1 without expiry, -2 when free; for
-- how many ms each field's read goes on, 0 when it died or is none
local lock = KEYS[1]
local companion = ARGV[1]
--include reads-left

local fields = redis.call('HGETALL', lock)
local left = {}
for i = 1, #fields, 2 do
  left[#left + 1] = readsLeft({ fields[i], fields[i + 1] }, companion, math.huge)
end
return { redis.call('PTTL', lock), fields, left }
