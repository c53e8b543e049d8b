-- How the newest computation of a key has ended, with its value where the caller can use it, and who computes now.
-- KEYS[1] record
-- KEYS[2] lock
-- ARGV[1] after (count) a newer token can be used whatever its age
-- ARGV[2] fresh (ms)
-- returns [string | nil state, integer token, integer age, string | nil form, string | nil value, string | nil holder]
local record, lock = KEYS[1], KEYS[2]
local after, fresh = tonumber(ARGV[1]), tonumber(ARGV[2])
--include whole
--include flight/ended-of
--include holder-of
--include server-now

local token, ended, state, form = endedOf(record)
local age = math.max(0, serverNow() - (ended or 0))
local value = (token or 0) > after or (state == 'value' and age < fresh)
if value then
  value = redis.call('HGET', record, 'value')
end
return { state or false, token or 0, age, value and form, value, holderOf(lock) or false }
