-- Who holds the lock, in which mode, how often, for how long, and the waiters in their order. Where there are many, some of
-- them at a time.
-- KEYS lock, queue, deadlines
-- ARGV companion, from, first (integer), owner
--   from: where to go on with those who hold it, 0 at first, empty when they are known
--   first: where to go on with those who wait, -1 when they are not asked for
--   owner: the only holder asked for, empty: all of them
-- returns [integer ttl, string next, string[pairs] fields and values in turn, integer[] left, string[pairs] waiting owners and deadlines
-- in turn] ttl in ms, -1 without expiry, -2 when free; where to go on, 0 when that is all; for how many ms each field's read
-- goes on, 0 when it died or is none; deadlines in ms since the epoch, by the server's clock

local ttl, mode = leftOf(lock), redis.call('HGET', lock, 'mode')
if ttl ~= -2 and mode ~= 'read' and mode ~= 'write' then
  return wrongKind(lock)
end
local found, on = {}, '0'
if owner ~= '' then
  local count = redis.call('HGET', lock, owner)
  found = count and { owner, count } or {}
elseif from ~= '' then
  found, on = fieldsAt(lock, from, 500)
end
local fields, left, work = {}, {}, { looks = READS_LOOKED_AT }
for i = 1, #found, 2 do
  local field, count = found[i], found[i + 1]
  -- What is longer is another program's.
  if #field < LONGEST_NAME and #count < 20 then
    fields[#fields + 1], fields[#fields + 2] = field, count
    left[#left + 1] = readsLeft({ field, count }, companion, math.huge, work)
  end
end
local waiting = first < 0 and {} or waitersAt(queue, deadlines, first, function(waiter)
  -- Who was let in and has not confirmed yet holds it.
  return isHolder({ lock = lock, companion = companion }, waiter)
end)
return { ttl, on, fields, left, waiting }
