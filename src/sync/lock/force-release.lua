-- Takes the lock from whoever holds it; it goes to the next in the line.
-- KEYS[1] lock
-- KEYS[2] queue
-- KEYS[3] deadlines
-- ARGV[1] channel
-- ARGV[2] grants
-- ARGV[3] publish
-- returns integer 1 when it was held, 0 when it was free
local lock, queue, deadlines = KEYS[1], KEYS[2], KEYS[3]
local channel, grants, publish = ARGV[1], ARGV[2], ARGV[3]
--include holder-of
--include wrong-kind
--include line/remove-waiter
--include take-hold
--include line/extend-line
--include line/places-at
--include line/remove-clients
--include lock/mode-of
--include lock/is-holder
--include lock/grant
--include lock/enters-or-blocks
--include line/grant-channel
--include line/is-heard
--include line/publish-grant
--include line/grant-trial
--include line/mark-silent
--include line/sweep-lapsed-clients
--include line/walk-line

local holder = holderOf(lock)
if holder == nil then
  return wrongKind(lock)
end
if redis.call('UNLINK', lock) == 0 then
  return 0
end
local time = redis.call('TIME')
local line = {
  lock = lock, queue = queue, deadlines = deadlines, companion = true, grants = grants, publish = publish,
  client = '', stamp = time[1] .. string.format('%06d', time[2]),
  now = time[1] * 1000 + math.floor(time[2] / 1000),
}
-- On trial it stands in the line still.
pcall(function()
  removeWaiter(line, holder)
  walkLine(line, {})
end)
-- Whoever waits here for a hold of its own process asks what became of it. Freed is freed, also where telling it is refused.
redis.pcall(publish, channel, '0')
return 1
