-- Takes the expiry from all keys of an object.
-- KEYS[1..] keys
-- returns integer how many of them had one
local keys = KEYS

local had = 0
for _, key in ipairs(keys) do
  had = had + redis.call('PERSIST', key)
end
return had
