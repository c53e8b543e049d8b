-- Makes the semaphore where there is none. Asked again under the same note, it tells again whether it did.
-- KEYS[1] permits
-- KEYS[2] note
-- KEYS[3] queue
-- KEYS[4] deadlines
-- KEYS[5] amounts
-- KEYS[6] turn
-- ARGV[1] amount (count)
-- ARGV[2] expiry (ms)
-- ARGV[3] client
-- ARGV[4] own (count) 1: the caller may be counted among those who listen; 2: it hears no messages; 3: not all are counted
-- ARGV[5] channel
-- ARGV[6] grants
-- ARGV[7] publish
-- returns integer 1 made, 0 when it was there
local permits, note, queue, deadlines, amounts, turn = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local amount, expiry, client, own = ARGV[1], tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4])
local channel, grants, publish = ARGV[5], ARGV[6], ARGV[7]
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

local before = textOf(note)
if before then
  return whole(before) or 0
end
local made = redis.call('EXISTS', permits) == 0 and 1 or 0
redis.call('SET', note, made, 'PX', NOTE_TIME)
if made == 0 then
  return 0
end
if expiry > 0 then
  redis.call('SET', permits, amount, 'PX', expiry)
else
  redis.call('SET', permits, amount)
end
-- What was granted of an earlier one is nobody's, and does not come back to this one.
pcall(function()
  local some = redis.call('HSCAN', amounts, '0', 'COUNT', 1000)[2]
  for i = 1, math.min(#some, 2000), 2 do
    if (whole(some[i + 1]) or 0) > 0 then endTrial({ amounts = amounts, deadlines = deadlines }, some[i]) end
  end
end)
handOver(lineOf({ permits, queue, deadlines, amounts, turn }, { channel, grants, publish }, client, own), tonumber(amount), false)
return 1
