-- Gives all keys of an object an expiry.
-- KEYS[1..] keys
-- ARGV[1] expiry (ms)
-- returns integer how many of them were there
local keys = KEYS
local expiry = ARGV[1]

local there = 0
for _, key in ipairs(keys) do
  there = there + redis.call('PEXPIRE', key, expiry)
end
return there
