-- Forgets how the newest computation of a key ended, and makes those that wait look again.
-- KEYS record, channel
-- ARGV publish
-- returns integer 1 forgotten, 0 there was nothing

local ended, foreign = endedOf(record)
if not ended and foreign then
  return redis.error_reply('WRONGKIND a hash of another program')
end
redis.call('UNLINK', record)
redis.pcall(publish, channel, '')
return ended and 1 or 0
