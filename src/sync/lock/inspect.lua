-- The holder of the lock, how often and for how long it holds it, and the waiters in their order; if there are many, some at a time.
-- KEYS lock, queue, deadlines, counter[4..]
-- ARGV first (integer)
--   first: where to continue with the waiters, -1 if they are not asked for
-- returns [integer ttl, string[pairs] owners and counts in turn, string[pairs] waiting owners and deadlines in turn, digits
-- token | nil] ttl in ms, -1 without expiry, -2 if free; deadlines in ms since the epoch, by the server's clock; the newest
-- token, if the lock has a counter

local holder, count = holderOf(lock)
if holder == nil then
  return wrongKind(lock)
end
-- Looking counts nothing, so a counter that another program wrote only has no token to show.
local token = counter[4] and redis.pcall('GETRANGE', counter[4], 0, 31)
-- An owner that was granted the lock and has not confirmed yet holds it.
local waiting = first < 0 and {} or waitersAt(queue, deadlines, first, function(owner)
  return owner == holder
end)
return { leftOf(lock), holder and { holder, count } or {}, waiting, isToken(token) and token or false }
