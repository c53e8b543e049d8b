-- Nobody of this process waits any more: it leaves the line, and what it had been granted there goes to the next.
-- KEYS[1] permits
-- KEYS[2] queue
-- KEYS[3] deadlines
-- KEYS[4] amounts
-- KEYS[5] turn
-- ARGV[1] owner
-- ARGV[2] own (count) 1: the caller may be counted among those who listen; 2: it hears no messages; 3: not all are counted
-- ARGV[3] channel
-- ARGV[4] grants
-- ARGV[5] publish
-- returns integer permits given back
local permits, queue, deadlines, amounts, turn = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local owner, own, channel, grants, publish = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4], ARGV[5]
--include publish-permits
--include whole
--include text-of
--include count-with
--include or-undo
--include line/remove-waiter
--include semaphore/remove-clients
--include semaphore/line-of
--include semaphore/mode-of
--include semaphore/granted-to
--include semaphore/is-holder
--include semaphore/enters-or-blocks
--include semaphore/grant
--include semaphore/end-trial
--include semaphore/leave-line
--include semaphore/restore-deadlines
--include line/grant-channel
--include line/is-heard
--include line/publish-grant
--include line/grant-trial
--include line/mark-silent
--include line/sweep-lapsed-clients
--include line/places-at
--include line/walk-line
--include outsiders/turn-left
--include outsiders/begin-turn
--include semaphore/notice-outsiders
--include semaphore/walk-for-permits
--include semaphore/hand-over

local line = lineOf({ permits, queue, deadlines, amounts, turn }, { channel, grants, publish }, owner, own)
local text = redis.pcall('GETRANGE', permits, 0, 31)
line.left = type(text) == 'string' and whole(text) or 0
local back = leaveLine(line, owner)
if back > 0 then
  handOver(line, line.left, false)
elseif turnLeft(line) == 0 then
  -- Whoever stood behind it may want less.
  noticeOutsiders(line)
  walkForPermits(line, {})
end
return back
