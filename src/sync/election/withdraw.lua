-- Deletes what a leader wrote whose term is over, and notifies the observers.
-- KEYS leader, channel
-- ARGV owner, publish
-- returns integer 1 deleted, 0 it was written by another leader, or is gone

if shortFields(leader, 'owner')[1] ~= owner then
  return 0
end
redis.call('UNLINK', leader)
redis.pcall(publish, channel, '0')
return 1
