-- Those of one process ask for permits, in their order: as many of them have theirs as there are permits for that nobody in the
-- line comes for first. If there are none for the first, the process stands in the line for as many as it waits for; who stands
-- there is shown to be alive, and what it was granted meanwhile is its own. The note tells what was taken to whoever asks again,
-- and keeps a copy that comes late from taking more, or from joining.
-- KEYS[1] permits
-- KEYS[2] note
-- KEYS[3] queue
-- KEYS[4] deadlines
-- KEYS[5] amounts
-- KEYS[6] turn
-- ARGV[1] owner
-- ARGV[2] joins (count) for how many permits it stands in the line if it has to wait; 0: it does not join
-- ARGV[3] news (count) 1: those to whom permits were left have had their share, or are heard no more
-- ARGV[4] own (count) 1: the caller may be counted among those who listen; 2: it hears no messages; 3: not all are counted
-- ARGV[5] channel
-- ARGV[6] grants
-- ARGV[7] publish
-- ARGV[8..] wanted (count)
-- returns [integer calls, integer first, integer open, integer share] how many of the calls have theirs, -1 when no permits are set; 1
-- when it is the first in the line, 2 when others were seen who know of none; for how many ms permits are left to those at most, and
-- for how many releases
local permits, note, queue, deadlines, amounts, turn = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local owner, joins, news, own = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local channel, grants, publish = ARGV[5], ARGV[6], ARGV[7]
local wanted = ARGV
--include whole
--include text-of
--include count-with
--include semaphore/available
--include semaphore/fit-in

local stored, noted = available(permits, note)
local calls, taken = fitIn(wanted, 7, stored or 0)
if stored == nil then
  return redis.error_reply('WRONGKIND a text that is no count')
elseif noted then
  return { calls - 7, 0, 0, 0 }
end
--include semaphore/take
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
--include semaphore/notice-outsiders
--include semaphore/walk-for-permits
--include semaphore/join-line
--include semaphore/mark-listening

local line = lineOf({ permits, queue, deadlines, amounts, turn }, { channel, grants, publish }, owner, own)
line.left = stored or 0
noticeOutsiders(line)
local paid, more = endTrial(line, owner), 0
calls, taken = fitIn(wanted, 7, paid)
-- Whoever waits now wants less, or more, and is first then.
local push = paid > 0 and 'LPUSH' or 'RPUSH'
if paid > taken and stored then
  line.left = redis.call('INCRBY', permits, paid - taken)
end
paid = taken
local function giveBack()
  if paid > 0 then redis.call('INCRBY', permits, paid) end
  if calls == 7 then leaveLine(line, owner) end
end
local mark, open = joinLine(line, owner, calls == 7 and joins or 0, push, own, news, giveBack)
local has, first = endTrial(line, owner), redis.call('LINDEX', queue, 0)
if calls == 7 then
  calls, taken = fitIn(wanted, 7, has)
end
if open == 0 and not first then
  calls, more = fitIn(wanted, calls, line.left)
end
local share = markListening(line, owner, first, own, mark, open)
local refusal = taken + more + paid + has > 0 and take(permits, note, taken + more, paid + has)
if refusal then
  return refusal
end
return { calls > 7 and calls - 7 or stored and 0 or -1, first == owner and (line.came and 2 or 1) or 0, open, share }
