-- Who holds the lock, in which mode, how often, for how long, and who waits for it in which order.
-- KEYS[1] lock
-- KEYS[2] queue
-- KEYS[3] deadlines
-- ARGV[1] companion
-- returns [integer ttl, string[] fields and values in turn, integer[] left, string[] waiting owners and deadlines in turn] ttl
-- in ms, -1 without expiry, -2 when free; for how many ms each field's read goes on, 0 when it died or is none; deadlines in ms
-- since the epoch, by the server's clock
local lock, queue, deadlines = KEYS[1], KEYS[2], KEYS[3]
local companion = ARGV[1]
--include reads-left
--include is-in

local fields, left, waiting = redis.call('HGETALL', lock), {}, {}
for i = 1, #fields, 2 do
  left[#left + 1] = readsLeft({ fields[i], fields[i + 1] }, companion, math.huge)
end
for _, owner in ipairs(redis.call('LRANGE', queue, 0, -1)) do
  -- Who was let in and has not confirmed yet holds it.
  if not isIn({ lock = lock, companion = companion }, owner) then
    waiting[#waiting + 1] = owner
    waiting[#waiting + 1] = redis.call('ZSCORE', deadlines, owner) or ''
  end
end
return { redis.call('PTTL', lock), fields, left, waiting }
