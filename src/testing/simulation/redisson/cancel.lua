-- Leaves the line; those behind become due an allowance earlier.
-- KEYS queue, deadlines
-- ARGV owner, allowance (ms)
-- returns nil

local behind = false
for _, other in ipairs(redis.call('LRANGE', queue, 0, -1)) do
  if behind then
    redis.call('ZINCRBY', deadlines, -allowance, other)
  end
  behind = behind or other == owner
end
redis.call('ZREM', deadlines, owner)
redis.call('LREM', queue, 0, owner)
return nil
