-- No call of this process waits any more: it leaves the line.
-- KEYS order, places
-- ARGV owner, counted, grants, publish
-- returns integer 1 if it stood there

local line = lineOf(order, places, grants, publish, counted)
local first = headOf(line, owner)
local stood = redis.call('ZREM', order, owner)
redis.call('HDEL', places, owner)
if stood == 1 and first and first.owner == owner then
  wakeNext(line)
end
return stood
