-- Gives back what an acquire took whose answer was lost, if it took anything, and voids a copy of it that comes late.
-- KEYS[1] permits
-- KEYS[2] note
-- KEYS[3] queue
-- KEYS[4] deadlines
-- KEYS[5] amounts
-- KEYS[6] turn
-- KEYS[7] timeouts
-- ARGV[1] client
-- ARGV[2] own (count) 1: the caller may be counted among those who listen; 2: it hears no messages; 3: not all are counted
-- ARGV[3] channel
-- ARGV[4] grants
-- ARGV[5] publish
-- ARGV[6..] ids
-- returns integer permits given back
local permits, note, queue, deadlines, amounts, turn, timeouts = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7]
local client, own, channel, grants, publish = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4], ARGV[5]
local ids = ARGV
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

-- What is no note of ours is met before anything is done.
textOf(note)
local taken, scores = 0, {}
for i = 6, #ids do
  scores[i] = redis.call('ZSCORE', timeouts, memberOf(ids[i]))
  taken = taken + (scores[i] and 1 or 0)
end
local before = taken > 0 and textOf(permits)
if before and not countWith(before, taken) then
  return redis.error_reply('WRONGKIND a text that is no count, or one too large')
end
for i = 6, #ids do
  if scores[i] then redis.call('ZREM', timeouts, memberOf(ids[i])) end
end
local available
if before then
  available = redis.pcall('INCRBY', permits, taken)
  -- Where the count may not be changed they stay taken, until their lease ends.
  if type(available) == 'table' then
    for i = 6, #ids do
      if scores[i] then redis.call('ZADD', timeouts, scores[i], memberOf(ids[i])) end
    end
    return available
  end
end
redis.call('SET', note, 1, 'PX', NOTE_TIME)
if available then
  local line = lineOf({ permits, queue, deadlines, amounts, turn }, { channel, grants, publish }, client, own)
  line.timeouts, line.over, line.most, line.visits, line.added = timeouts, 0, MOST_GRANTED, 1, taken
  handOver(line, available, false)
end
return taken
