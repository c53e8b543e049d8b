-- Keeps how a computation has ended and tells those that wait; only while the lock is still its owner's, so that nothing late is ever seen.
-- KEYS record, lock, channel
-- ARGV owner, token, state, form, value, kept (ms text), publish, message
-- returns integer 1 kept, 0 the lock is not this owner's

if redis.call('HEXISTS', lock, owner) == 0 then
  return 0
end
local ended, foreign = endedOf(record)
if not ended and foreign then
  return redis.error_reply('WRONGKIND a hash of another program')
end
redis.call('HSET', record, 'state', state, 'token', token, 'ended', serverNow(), 'form', form, 'value', value)
orUndo(function()
  redis.call('UNLINK', record)
end, redis.call, 'PEXPIRE', record, kept)
redis.pcall(publish, channel, message)
return 1
