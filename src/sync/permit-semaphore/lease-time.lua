-- How long a permit lasts.
-- KEYS timeouts
-- ARGV id
-- returns integer ms left, -1 if it never expires, -2 if it is unknown, expired or released

local ends = redis.call('ZSCORE', timeouts, memberOf(id))
if ends == NEVER then
  return -1
end
local left = ends and math.min(tonumber(ends) - serverNow(), MAX_SAFE_INTEGER) or 0
return left > 0 and left or -2
