-- Who leads: what the leader wrote, as long as it holds the lock.
-- KEYS lock, leader
-- returns [string owner, string | nil term, string | nil revision, string | nil since, string | nil form, string | nil value, integer left, integer now] | nil nobody leads

local known = shortFields(leader, 'owner', 'term', 'revision', 'since', 'form')
local owner = known[1]
if not owner or redis.call('HEXISTS', lock, owner) == 0 then
  return nil
end
return { owner, known[2], known[3], known[4], known[5], redis.call('HGET', leader, 'value'), leftOf(lock), serverNow() }
