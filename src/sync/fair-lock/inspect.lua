-- Who holds the lock, how often, for how long, and who waits for it in which order.
-- KEYS[1] lock
-- KEYS[2] queue
-- KEYS[3] deadlines
-- returns [integer ttl, string[] owners and counts in turn, string[] waiting owners and deadlines in turn] ttl in ms, -1
-- without expiry, -2 when free; deadlines in ms since the epoch, by the server's clock
local lock, queue, deadlines = KEYS[1], KEYS[2], KEYS[3]

local waiting = {}
for _, owner in ipairs(redis.call('LRANGE', queue, 0, -1)) do
  -- Who is granted it and has not confirmed yet holds it.
  if redis.call('HEXISTS', lock, owner) == 0 then
    waiting[#waiting + 1] = owner
    waiting[#waiting + 1] = redis.call('ZSCORE', deadlines, owner) or ''
  end
end
return { redis.call('PTTL', lock), redis.call('HGETALL', lock), waiting }
