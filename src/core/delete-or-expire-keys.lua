-- Deletes all keys of an object, sets an expiry on them, or removes their expiry. Does so only if the first key is one of the object's
-- kind, a limiter's rate or a count, and not a lock or something that another program wrote.
-- KEYS keys[1..]
-- ARGV limits, command, change
-- returns integer how many of them it changed

if limits == '1' then
  local _, problem = rateOf(keys[1])
  if problem then
    return problem
  end
elseif not whole(textOf(keys[1]) or '0') then
  return redis.error_reply('WRONGKIND a text that is no count')
end
local changed = 0
for _, key in ipairs(keys) do
  changed = changed + (change == '' and redis.call(command, key) or redis.call(command, key, change))
end
return changed
