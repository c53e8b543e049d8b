-- Frees what its owner has of these keys, however often, and wakes one waiter of each process.
-- KEYS[1] group
-- ARGV[1] owner
-- ARGV[2] channel
-- ARGV[3] publish
-- ARGV[4..] fields
-- returns integer processes told, -1 when not all of them were this owner's still
local group = KEYS[1]
local owner = ARGV[1]
local channel = ARGV[2]
local publish = ARGV[3]
local fields = ARGV
--include server-now
--include whole
--include key-left
--include drop-key

local now = serverNow()
local freed, whole = 0, true
for i = 4, #fields do
  whole = keyLeft(group, fields[i], owner, now) > 0 and whole
  freed = freed + dropKey(group, fields[i], owner)
end
if freed == 0 then
  return -1
end
-- Freed is freed: where telling it is refused (an ACL without the channel), waiters find out by asking.
local told = redis.pcall(publish, channel, '0')
if not whole then
  return -1
end
return type(told) == 'number' and told or 0
