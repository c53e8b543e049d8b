-- Deletes the latch and frees all waiters. Redisson's own delete publishes 1, and its waiters go on waiting; after a 0, they look again.
-- KEYS latch, channel
-- ARGV publish
-- returns integer 1 deleted, 0 if it was not there

if not whole(textOf(latch) or '0') then
  return redis.error_reply('WRONGKIND a text that is no count')
end
if redis.call('DEL', latch) == 0 then
  return 0
end
redis.pcall(publish, channel, '1')
redis.pcall(publish, channel, '0')
return 1
