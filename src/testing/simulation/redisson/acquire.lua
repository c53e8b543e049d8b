-- Acquires the lock, or joins the end of the line, with a deadline one allowance after that of the last.
-- KEYS lock, queue, deadlines
-- ARGV lease (ms text), owner, allowance (ms), now (ms)
-- returns nil held | integer ms until it is worth asking again

prune(queue, deadlines, now)
if take(lock, queue, deadlines, owner, lease, allowance) then
  return nil
end
local left = redis.call('PTTL', lock)
if redis.call('ZSCORE', deadlines, owner) then
  return math.max(0, left)
end
local tail = redis.call('LINDEX', queue, -1)
local last = tail and tail ~= owner and redis.call('ZSCORE', deadlines, tail)
if last then
  left = tonumber(last) - now
end
if redis.call('ZADD', deadlines, left + allowance + now, owner) == 1 then
  redis.call('RPUSH', queue, owner)
end
return left
