-- Keeps how a computation has ended and tells those that wait; only while the lock is still its owner's, so that nothing late is ever seen.
-- KEYS[1] record
-- KEYS[2] lock
-- KEYS[3] channel
-- ARGV[1] owner
-- ARGV[2] token
-- ARGV[3] state
-- ARGV[4] form
-- ARGV[5] value
-- ARGV[6] kept (ms text)
-- ARGV[7] publish
-- ARGV[8] message
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
