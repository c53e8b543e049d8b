-- How the newest computation of a key has ended, with its value where the caller can use it, and who computes now.
-- KEYS record, lock
-- ARGV after (count), fresh (ms)
--   after: another token than this can be used whatever its age; -1 none can
-- returns [string | nil state, integer token, integer age, string | nil form, string | nil value, string | nil holder]

local token, ended, state, form = endedOf(record)
local now = serverNow()
local age = token and now - ended or 0
-- What ended later than now was written by another program, or the server's clock was set back.
local usable = token and (after >= 0 and token ~= after or state == 'value' and age < fresh and age > -1000)
local holder = holderOf(lock)
return {
  token and state or false, token or 0, math.max(0, age), usable and form or false, usable and redis.call('HGET', record, 'value') or false,
  holder and #holder < LONGEST_NAME and holder or holder == nil and '' or false
}
