-- Reads under a write of its own, whoever waits.
-- KEYS lock, levels
-- ARGV writer, owner, lease (ms)
-- returns nil held | integer ms that it stays another's, -1 when it has no expiry, -2 when it is free

-- Asked again (a reply was lost), it may read on where the write has ended meanwhile.
if redis.call('HEXISTS', lock, writer) == 0 and redis.call('HEXISTS', lock, owner) == 0 then
  return leftOf(lock)
end
redis.call('HSET', lock, owner, 1)
keepLevel(levels .. ':1', lease)
extendExpiry(lock, lease)
return nil
