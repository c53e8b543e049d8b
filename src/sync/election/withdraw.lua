-- Deletes what a leader wrote whose term is over, and tells the observers.
-- KEYS leader, channel
-- ARGV owner, publish
-- returns integer 1 deleted, 0 it was another's, or gone

if shortFields(leader, 'owner')[1] ~= owner then
  return 0
end
redis.call('UNLINK', leader)
redis.pcall(publish, channel, '0')
return 1
