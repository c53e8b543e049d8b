-- Who holds the lock, in which mode, how often, for how long, and the waiters in their order. If there are many, some at a time.
-- KEYS lock, queue, deadlines
-- ARGV companion, from, first (integer), owner
--   from: where to continue with the holders, 0 at first, empty if they are known: a cursor; behind a blank, the field before, if there is one
--   first: where to continue with the waiters, -1 if they are not asked for
--   owner: the only holder that is asked for; empty: all of them
-- returns [integer ttl, string next, string[pairs] fields and values in turn, integer[] left, string[pairs] waiting owners and deadlines in
-- turn] ttl in ms, -1 without expiry, -2 if free; where to continue, 0 if that is all; for how many ms each field's read goes on, 0 if it
-- is dead or is not a read; deadlines in ms since the epoch, by the server's clock

local ttl, mode = leftOf(lock), redis.call('HGET', lock, 'mode')
if ttl ~= -2 and mode ~= 'read' and mode ~= 'write' then
  return wrongKind(lock)
end
local found, on, cursor, known = {}, '0', string.match(from, '^(%d*) ?(.*)$')
if owner ~= '' then
  local count = redis.call('HGET', lock, owner)
  found = count and { owner, count } or {}
elseif from ~= '' then
  found, on = fieldsAt(lock, cursor, 500)
end
local start = 1
if known ~= '' then
  -- If it is gone, all that the cursor leads to is looked at again.
  for i = 1, #found, 2 do
    if found[i] == known then start = i + 2 end
  end
end
local fields, left, work = {}, {}, { looks = READS_LOOKED_AT }
for i = start, #found, 2 do
  local field, count = found[i], found[i + 1]
  -- What is longer was written by another program.
  if #field < LONGEST_NAME and #count < 20 then
    local goes = longestRead({ field, count }, companion, math.huge, work)
    if work.looks < 1 and #left > 0 then
      -- A small hash comes in one part, whatever COUNT says. The next call begins with this field.
      on = cursor .. ' ' .. fields[#fields - 1]
      break
    end
    fields[#fields + 1], fields[#fields + 2] = field, count
    left[#left + 1] = goes
  end
end
local waiting = first < 0 and {} or waitersAt(queue, deadlines, first, function(waiter)
  -- An owner that was let in and has not confirmed yet holds the lock.
  return isHolder({ lock = lock, companion = companion }, waiter)
end)
return { ttl, on, fields, left, waiting }
