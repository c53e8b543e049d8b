-- Adds permits, or takes some away, keeping the expiry. They go to those in the line, or to others, who wait for a message. Asked again
-- under the same note, it is done once; what was refused stays refused.
-- KEYS[1] permits
-- KEYS[2] note
-- KEYS[3] queue
-- KEYS[4] deadlines
-- KEYS[5] amounts
-- KEYS[6] turn
-- KEYS[7] timeouts
-- ARGV[1] amount (integer)
-- ARGV[2] client
-- ARGV[3] own (count) 1: the caller may be counted among those who listen; 2: it hears no messages; 3: not all are counted
-- ARGV[4] channel
-- ARGV[5] grants
-- ARGV[6] publish
-- returns integer how many are available now
local permits, note, queue, deadlines, amounts, turn, timeouts = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7]
local amount, client, own, channel, grants, publish = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4], ARGV[5], ARGV[6]
--include publish-permits
--include whole
--include text-of
--include left-of
--include count-with
--include or-undo
--include line/remove-waiter
--include permit-semaphore/member-of
--include permit-semaphore/reclaim-expired
--include semaphore/remove-clients
--include semaphore/line-of
--include semaphore/mode-of
--include semaphore/granted-to
--include semaphore/is-holder
--include permit-semaphore/enters-or-blocks
--include permit-semaphore/trial-ids
--include permit-semaphore/add-ids
--include permit-semaphore/grant
--include permit-semaphore/end-trial
--include semaphore/leave-line
--include permit-semaphore/restore-deadlines
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

-- A write that needs no memory: after it, a server short of memory lets the others pass.
if redis.call('PEXPIRE', note, math.max(leftOf(note), 1)) == 1 then
  return whole(textOf(permits)) or 0
end
if not countWith(textOf(permits) or '0', amount) then
  return redis.error_reply('WRONGKIND a text that is no count, or one too large')
end
local available = redis.call('INCRBY', permits, amount)
redis.call('SET', note, 1, 'PX', LONG_NOTE_TIME)
local line = lineOf({ permits, queue, deadlines, amounts, turn }, { channel, grants, publish }, client, own)
line.timeouts, line.over, line.most, line.visits, line.added = timeouts, 0, MOST_GRANTED, 1, tonumber(amount)
handOver(line, available, false)
return available
