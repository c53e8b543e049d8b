-- Gives permits back by their ids: all, or none when one of them is unknown, expired or given back. They go to those in the line, or
-- to others, who wait for a message. Asked again under the same note, it tells again that it did.
-- KEYS[1] permits
-- KEYS[2] note
-- KEYS[3] queue
-- KEYS[4] deadlines
-- KEYS[5] amounts
-- KEYS[6] turn
-- KEYS[7] timeouts
-- ARGV[1] client its id, or its place in the line, which nobody there needs any more
-- ARGV[2] own (count) 1: the caller may be counted among those who listen; 2: it hears no messages; 3: not all are counted
-- ARGV[3] visits (count) how many have had them in this process one after the other, the first included
-- ARGV[4] channel
-- ARGV[5] grants
-- ARGV[6] publish
-- ARGV[7..] ids
-- returns integer 1 done, -1 when nothing was given back
local permits, note, queue, deadlines, amounts, turn, timeouts = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7]
local client, own, visits, channel, grants, publish = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4], ARGV[5], ARGV[6]
local ids = ARGV
--include permit-semaphore/member-of
--include or-undo
--include whole
--include text-of
--include left-of
--include count-with
--include permit-semaphore/reclaim-expired
--include server-now
--include publish-permits

-- A write that needs no memory: after it, a server short of memory lets the others pass.
if redis.call('PEXPIRE', note, NOTE_TIME) == 1 then
  return 1
end
local now, scores = serverNow(), {}
for i = 7, #ids do
  local ends = redis.call('ZSCORE', timeouts, memberOf(ids[i]))
  if not ends or tonumber(ends) <= now then
    return -1
  end
  scores[i] = ends
end
local before, over, reaped = textOf(permits), 0, 0
if before and not countWith(before, #ids) then
  return redis.error_reply('WRONGKIND a text that is no count, or one too large')
end
over, reaped = reclaimExpired(permits, timeouts, now, 0)
for i = 7, #ids do
  redis.call('ZREM', timeouts, memberOf(ids[i]))
end
local available = 0
if before then
  -- Where the count may not be changed they stay taken.
  available = redis.pcall('INCRBY', permits, #ids - 6)
  if type(available) == 'table' then
    for i = 7, #ids do redis.call('ZADD', timeouts, scores[i], memberOf(ids[i])) end
    return available
  end
  available = available + over
end
redis.call('SET', note, 1, 'PX', NOTE_TIME)
local lined = redis.call('EXISTS', queue, deadlines) > 0
if not lined and publishPermits(channel, publish, available) <= (own == 1 and 1 or 0) then
  return 1
end
--include line/remove-waiter
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

local line = lineOf({ permits, queue, deadlines, amounts, turn }, { channel, grants, publish }, client, own)
line.timeouts, line.most, line.visits = timeouts, MOST_GRANTED, visits
line.over, line.lapsed, line.left, line.added = over, reaped > 0, available, #ids - 6 + reaped
if #client > 36 then
  pcall(leaveLine, line, client)
end
handOver(line, line.left, not lined)
return 1
