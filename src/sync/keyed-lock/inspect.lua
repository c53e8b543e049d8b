-- Who holds each of these keys, for how long, and how often.
-- KEYS[1] group
-- ARGV[1..] fields
-- returns [string[fields] owners, integer[fields] left (ms), integer[fields] counts] in the order of the fields; an empty owner: it is free
local group = KEYS[1]
local fields = ARGV
--include server-now
--include whole
--include key-left

local now = serverNow()
local owners, left, counts = {}, {}, {}
for i, field in ipairs(fields) do
  local owner = redis.call('HGET', group, field) or ''
  left[i] = keyLeft(group, field, owner, now)
  owners[i] = left[i] > 0 and owner or ''
  counts[i] = whole(redis.call('HGET', group, field .. ':' .. owner .. ':lock_count')) or 0
end
return { owners, left, counts }
