-- Adds permits, or takes some away, keeping the expiry. They go to those in the line, or to others, who wait for a message. Asked again
-- under the same note, it is done once; what was refused stays refused. The note lasts for as long as who gives back may ask again.
-- KEYS[1] permits
-- KEYS[2] note
-- KEYS[3] queue
-- KEYS[4] deadlines
-- KEYS[5] amounts
-- KEYS[6] turn
-- ARGV[1] amount (integer)
-- ARGV[2] always (count)
-- ARGV[3] client its id, or its place in the line, which nobody there needs any more
-- ARGV[4] own (count) 1: the caller may be counted among those who listen; 2: it hears no messages; 3: not all are counted
-- ARGV[5] visits (count) how many have had them in this process without a step on the server, the first included
-- ARGV[6] channel
-- ARGV[7] grants
-- ARGV[8] publish
-- returns integer 1 done, -1 when there is no such semaphore and it need not be made
local permits, note, queue, deadlines, amounts, turn = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local amount, always, client, own, visits = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])
local channel, grants, publish = ARGV[6], ARGV[7], ARGV[8]
--include publish-permits
--include whole
--include text-of
--include left-of
--include count-with

-- A write that needs no memory: after it, a server short of memory lets the others pass.
if redis.call('PEXPIRE', note, math.max(leftOf(note), 1)) == 1 then
  return textOf(note) == '0' and -1 or 1
end
local before = textOf(permits)
if always == '0' and not before then
  redis.call('SET', note, 0, 'PX', LONG_NOTE_TIME)
  return -1
end
if not countWith(before or '0', amount) then
  return redis.error_reply('WRONGKIND a text that is no count, or one too large')
end
local available = redis.call('INCRBY', permits, amount)
redis.call('SET', note, 1, 'PX', LONG_NOTE_TIME)
local lined = redis.call('EXISTS', queue, deadlines) > 0
if not lined and publishPermits(channel, publish, available) <= (own == 1 and 1 or 0) then
  return 1
end
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

local line = lineOf({ permits, queue, deadlines, amounts, turn }, { channel, grants, publish }, client, own)
line.visits, line.left, line.added = visits, available, amount
if #client > 36 then
  pcall(leaveLine, line, client)
end
handOver(line, line.left, not lined)
return 1
