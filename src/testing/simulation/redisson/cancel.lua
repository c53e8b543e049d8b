-- Leaves the line; whoever stands behind is due an allowance earlier.
-- KEYS[1] queue
-- KEYS[2] deadlines
-- ARGV[1] owner
-- ARGV[2] allowance (ms)
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
