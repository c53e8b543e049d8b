-- How the newest computation of a key ended, with its value if the caller can use it, and who computes now.
-- KEYS record, lock
-- ARGV after, fresh (ms)
--   after: any other token can be used, whatever its age; -1 none can
--   fresh: for how long a value can be used; -1 as long as it is stored, and a record that cannot be read is an error
-- returns [string | nil state, digits token, integer age, string | nil form, string | nil value, string | nil holder]

local token, ended, state, form = endedOf(record)
if fresh < 0 and not token and redis.call('EXISTS', record) == 1 then
  return redis.error_reply('WRONGKIND a hash of another program')
end
local now = serverNow()
local age = token and now - ended or 0
-- An end in the future was written by another program, or before the server's clock was set back.
local isFresh = fresh < 0 or math.max(0, age) < fresh and age > -1000
local usable = token and (after ~= '-1' and token ~= after or state == 'value' and isFresh)
local holder = holderOf(lock)
return {
  token and state or false, token or '0', math.max(0, age), usable and form or false, usable and redis.call('HGET', record, 'value') or false,
  holder and #holder < LONGEST_NAME and holder or holder == nil and '' or false
}
