-- Who holds the lock, in which mode, how often, for how long, and the waiters in their order. Where there are many, some of
-- them at a time.
-- KEYS lock, queue, deadlines
-- ARGV companion, from, first (count)
--   from: where to go on with those who hold it, 0 at first, empty when they are known
--   first: where to go on with those who wait
-- returns [integer ttl, string next, string[pairs] fields and values in turn, integer[] left, string[pairs] waiting owners and deadlines
-- in turn] ttl in ms, -1 without expiry, -2 when free; where to go on, 0 when that is all; for how many ms each field's read
-- goes on, 0 when it died or is none; deadlines in ms since the epoch, by the server's clock

local ttl, mode = leftOf(lock), redis.call('HGET', lock, 'mode')
if ttl ~= -2 and mode ~= 'read' and mode ~= 'write' then
  return wrongKind(lock)
end
local found, on = {}, '0'
if from ~= '' then found, on = fieldsAt(lock, from, 500) end
local fields, left, work = {}, {}, { looks = READS_LOOKED_AT }
for i = 1, #found, 2 do
  local owner, count = found[i], found[i + 1]
  -- What is longer is another program's.
  if #owner < LONGEST_NAME and #count < 20 then
    fields[#fields + 1], fields[#fields + 2] = owner, count
    left[#left + 1] = readsLeft({ owner, count }, companion, math.huge, work)
  end
end
local waiting = waitersAt(queue, deadlines, first, function(owner)
  -- Who was let in and has not confirmed yet holds it.
  return isHolder({ lock = lock, companion = companion }, owner)
end)
return { ttl, on, fields, left, waiting }
