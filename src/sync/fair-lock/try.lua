-- Takes the lock when it is free and nobody waits for it. Never joins the line.
-- KEYS[1] lock
-- KEYS[2] queue
-- KEYS[3] deadlines
-- ARGV[1] owner
-- ARGV[2] lease (ms)
-- ARGV[3] channel
-- ARGV[4] publish
-- returns nil held | integer ms that it stays another's, -1 when it has no expiry, -2 when it is another's turn
local lock, queue, deadlines = KEYS[1], KEYS[2], KEYS[3]
local owner, lease, channel, publish = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
--include left-of
--include fair-lock/is-ours
--include fair-lock/deadline-of
--include line/extend-line
--include line/places-at
--include line/remove-clients
--include fair-lock/mark-age
--include fair-lock/remove-overdue
--include holder-of
--include wrong-kind
--include take-hold

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
takeHold(lock, owner, lease)
return nil
