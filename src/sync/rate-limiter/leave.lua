-- Nobody of this process waits any more: it leaves the line.
-- KEYS[1] order
-- KEYS[2] places
-- ARGV[1] owner
-- ARGV[2] counted 1: this server knows of all who listen
-- ARGV[3] grants
-- ARGV[4] publish
-- returns integer 1 where it stood there

local line = lineOf(order, places, grants, publish, counted)
local first = headOf(line, owner)
local stood = redis.call('ZREM', order, owner)
redis.call('HDEL', places, owner)
if stood == 1 and first and first.owner == owner then
  wakeNext(line)
end
return stood
