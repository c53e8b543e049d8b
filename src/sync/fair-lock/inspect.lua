-- The holder of the lock, how often and for how long it holds it, and the waiters in their order; some at a time where there are many.
-- KEYS lock, queue, deadlines, counter[4..]
-- ARGV first (integer)
--   first: where to go on with those who wait, -1 when they are not asked for
-- returns [integer ttl, string[pairs] owners and counts in turn, string[pairs] waiting owners and deadlines in turn, digits token | nil]
-- ttl in ms, -1 without expiry, -2 when free; deadlines in ms since the epoch, by the server's clock; the newest token, where the
-- lock has a counter

local holder, count = holderOf(lock)
if holder == nil then
  return wrongKind(lock)
end
local token = counter[4] and redis.call('GET', counter[4])
if token and not isToken(token) then
  return redis.error_reply('WRONGKIND a fencing counter that is no number')
end
-- Who is granted it and has not confirmed yet holds it.
local waiting = first < 0 and {} or waitersAt(queue, deadlines, first, function(owner)
  return owner == holder
end)
return { leftOf(lock), holder and { holder, count } or {}, waiting, token or false }
