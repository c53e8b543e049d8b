-- Reads under the owner's own write, even if others wait.
-- KEYS lock, levels
-- ARGV writer, owner, lease (ms)
-- returns 'held' | integer ms that another owner keeps it, -1 if it has no expiry, -2 if it is free

-- If asked again (a reply was lost), it may go on reading even if the write has ended meanwhile.
if redis.call('HEXISTS', lock, writer) == 0 and redis.call('HEXISTS', lock, owner) == 0 then
  return leftOf(lock)
end
redis.call('HSET', lock, owner, 1)
keepLevel(levels .. ':1', lease)
extendExpiry(lock, lease)
return 'held'
