-- Takes these keys from whoever holds them.
-- KEYS[1] group
-- ARGV[1] channel
-- ARGV[2] publish
-- ARGV[3..] fields
-- returns integer 1 when one of them was held, 0 when all were free
local group = KEYS[1]
local channel = ARGV[1]
local publish = ARGV[2]
local fields = ARGV
--include server-now
--include whole
--include key-left
--include drop-key

local now = serverNow()
local gone, held = 0, 0
for i = 3, #fields do
  local holder = redis.call('HGET', group, fields[i])
  if holder then
    held = keyLeft(group, fields[i], holder, now) > 0 and 1 or held
    gone = gone + dropKey(group, fields[i], holder)
  end
end
if gone > 0 then
  -- Freed is freed, also where telling it is refused.
  redis.pcall(publish, channel, '0')
end
return held
