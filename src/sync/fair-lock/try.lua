-- Acquires the lock if it is free and nobody waits for it. Never joins the line.
-- KEYS lock, queue, deadlines
-- ARGV owner, lease (ms text), channel, publish
-- returns 'held' | integer ms that another owner keeps it, -1 if it has no expiry, -2 if it is another's turn

local left = leftOf(lock)
local holder = left ~= -2 and holderOf(lock)
if holder == nil then
  return wrongKind(lock)
end
if holder and holder ~= owner then
  return left
end
if left == -2 then
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  local line = { queue = queue, deadlines = deadlines, channel = channel, publish = publish, now = now }
  removeOverdue(line, string.sub(owner, 1, 36))
  if redis.call('EXISTS', queue) == 1 then
    return left
  end
end
takeFirstHold(lock, owner, lease)
return 'held'
