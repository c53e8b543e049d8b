-- Creates the semaphore if there is none. If asked again under the same note, returns the same answer.
-- KEYS permits, note, queue, deadlines, amounts, turn
-- ARGV amount (count text), expiry (ms), client, own (count), channel, grants, publish
-- returns integer 1 created, 0 if it was there

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
-- Permits granted from an earlier semaphore are void: they do not come back to this one.
pcall(function()
  local some = fieldsAt(amounts, '0', 500)
  for i = 1, math.min(#some, 1000), 2 do
    if #some[i] < LONGEST_NAME and (whole(some[i + 1]) or 0) > 0 then endTrial({ amounts = amounts, deadlines = deadlines }, some[i]) end
  end
end)
handOverPermits(lineOf({ permits, queue, deadlines, amounts, turn }, { channel, grants, publish }, client, own), tonumber(amount), false)
return 1
