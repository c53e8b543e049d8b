-- The holder of the lock, how often and for how long it holds it, and the waiters in their order; some at a time where there are many.
-- KEYS[1] lock
-- KEYS[2] queue
-- KEYS[3] deadlines
-- KEYS[4..] counter
-- ARGV[1] first (count) where to go on with those who wait
-- returns [integer ttl, string[pairs] owners and counts in turn, string[pairs] waiting owners and deadlines in turn, digits token | nil]
-- ttl in ms, -1 without expiry, -2 when free; deadlines in ms since the epoch, by the server's clock; the newest token, where the
-- lock has a counter
local lock, queue, deadlines = KEYS[1], KEYS[2], KEYS[3]
local counter = KEYS
local first = tonumber(ARGV[1])
--include left-of
--include holder-of
--include line/places-at
--include line/waiters-at
--include wrong-kind
--include is-token

local holder, count = holderOf(lock)
if holder == nil then
  return wrongKind(lock)
end
local token = counter[4] and redis.call('GET', counter[4])
if token and not isToken(token) then
  return redis.error_reply('WRONGKIND a fencing counter that is no number')
end
-- Who is granted it and has not confirmed yet holds it.
local waiting = waitersAt(queue, deadlines, first, function(owner)
  return owner == holder
end)
return { leftOf(lock), holder and { holder, count } or {}, waiting, token or false }
