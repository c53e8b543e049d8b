-- Who leads: what the leader wrote, as long as it holds the lock.
-- KEYS lock, leader
-- returns [string owner, string | nil term, string | nil revision, string | nil since, string | nil form, string | nil value, integer left, integer now] | nil nobody leads

local known = shortFields(leader, 'owner', 'term', 'revision', 'since', 'form')
local owner = known[1]
if not owner or redis.call('HEXISTS', lock, owner) == 0 then
  return nil
end
-- Another program may have written megabytes.
local short = redis.call('HSTRLEN', leader, 'value') <= LONGEST_VALUE
local form, value = short and known[5], short and redis.call('HGET', leader, 'value')
return { owner, known[2], known[3], known[4], form, value, leftOf(lock), serverNow() }
