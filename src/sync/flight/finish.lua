-- Stores how a computation ended, and notifies those that wait. Does so only while its owner holds the lock, so that
-- no call ever sees a late result.
-- KEYS record, lock, channel
-- ARGV owner, token, state, form, value, kept (ms text), publish, message
-- returns integer 1 stored, also by an earlier attempt whose answer was lost; 0 this owner does not hold the lock

local ended, foreign = endedOf(record)
if redis.call('HEXISTS', lock, owner) == 0 then
  -- A server that lost its data gives tokens again.
  return ended == token and redis.call('HGET', record, 'value') == value and 1 or 0
end
if not ended and foreign then
  return redis.error_reply('WRONGKIND a hash of another program')
end
redis.call('HSET', record, 'state', state, 'token', token, 'ended', serverNow(), 'form', form, 'value', value)
orUndo(function()
  redis.call('UNLINK', record)
end, redis.call, 'PEXPIRE', record, kept)
redis.pcall(publish, channel, message)
return 1
