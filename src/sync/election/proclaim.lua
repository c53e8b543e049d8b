-- Writes who leads, and with which value, if this owner still holds the lock, and notifies the observers of a change. A late copy changes
-- nothing, because each value of a term has a number.
-- KEYS lock, leader, channel
-- ARGV owner, term, revision (count text), form, value, kept (ms text), publish
--   publish: empty if nothing has changed
-- returns integer 1 written, 0 this owner does not hold the lock

if redis.call('HEXISTS', lock, owner) == 0 then
  return 0
end
local known = shortFields(leader, 'term', 'revision', 'since', 'owner')
if not known[1] and redis.call('EXISTS', leader) == 1 then
  return redis.error_reply('WRONGKIND a hash of another program')
end
local since = serverNow()
if known[1] == term and known[4] == owner then
  if (whole(known[2]) or 0) > tonumber(revision) then
    return 1
  end
  since = whole(known[3]) or since
end
redis.call('HSET', leader, 'owner', owner, 'term', term, 'revision', revision, 'since', since, 'form', form, 'value', value)
orUndo(function()
  redis.call('UNLINK', leader)
end, redis.call, 'PEXPIRE', leader, kept)
if publish ~= '' then
  redis.pcall(publish, channel, term)
end
return 1
