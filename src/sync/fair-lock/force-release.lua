-- Takes the lock from whoever holds it; it goes to the next in the line.
-- KEYS[1] lock
-- KEYS[2] queue
-- KEYS[3] deadlines
-- ARGV[1] lease (ms)
-- ARGV[2] allowance (ms)
-- ARGV[3] channel
-- ARGV[4] grants
-- ARGV[5] publish
-- returns integer 1 when it was held, 0 when it was free
local lock, queue, deadlines = KEYS[1], KEYS[2], KEYS[3]
local lease, allowance, channel, grants, publish = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3], ARGV[4], ARGV[5]
--include holder-of
--include wrong-kind
--include fair-lock/is-ours
--include fair-lock/deadline-of
--include line/remove-waiter
--include line/extend-line
--include line/places-at
--include line/remove-clients
--include fair-lock/mark-age
--include fair-lock/remove-overdue
--include fair-lock/add-scores
--include fair-lock/keep-order
--include fair-lock/limit-deadlines
--include line/is-heard
--include line/publish-grant
--include take-hold
--include fair-lock/mark-now
--include fair-lock/wake-redisson
--include fair-lock/grant-next

local time = redis.call('TIME')
local line = {
  lock = lock, queue = queue, deadlines = deadlines, channel = channel, grants = grants, publish = publish,
  lease = lease, allowance = allowance, stamp = time[1] .. string.format('%06d', time[2]),
  now = time[1] * 1000 + math.floor(time[2] / 1000),
}
local holder = holderOf(lock)
if holder == nil then
  return wrongKind(lock)
end
if not holder then
  return 0
end
redis.call('UNLINK', lock)
-- On trial it stands in the line still.
removeWaiter(line, holder)
removeOverdue(line, '')
grantNext(line, {})
return 1
