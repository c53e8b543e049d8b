-- Gives back what an acquire took whose answer was lost, if it took anything, and voids a copy of it that comes late.
-- KEYS[1] permits
-- KEYS[2] note
-- KEYS[3] queue
-- KEYS[4] deadlines
-- KEYS[5] amounts
-- KEYS[6] turn
-- ARGV[1] client
-- ARGV[2] own (count) 1: the caller may be counted among those who listen; 2: it hears no messages; 3: not all are counted
-- ARGV[3] channel
-- ARGV[4] grants
-- ARGV[5] publish
-- returns integer permits given back
local permits, note, queue, deadlines, amounts, turn = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local client, own, channel, grants, publish = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4], ARGV[5]
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

-- First: a server short of memory lets a script write on that has begun with what needs none.
redis.call('PEXPIRE', note, NOTE_TIME)
local taken = whole(textOf(note)) or 0
local before = taken > 0 and textOf(permits)
if before and not countWith(before, taken) then
  redis.call('PEXPIRE', note, LONG_NOTE_TIME)
  return redis.error_reply('WRONGKIND a text that is no count, or one too large')
end
redis.call('SET', note, 0, 'PX', NOTE_TIME)
if not before then
  return 0
end
local available = redis.pcall('INCRBY', permits, taken)
if type(available) == 'table' then
  -- Not given back: the note says so still.
  redis.call('SET', note, taken, 'PX', LONG_NOTE_TIME)
  return available
end
local line = lineOf({ permits, queue, deadlines, amounts, turn }, { channel, grants, publish }, client, own)
line.added = taken
handOver(line, available, false)
return taken
