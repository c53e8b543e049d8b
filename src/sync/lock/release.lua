-- Releases the lock of its owner, whatever the count, or takes a waiter out of the line. If the lock is free then, it goes to the next
-- there, or is announced to those that wait for a message.
-- KEYS lock, queue, deadlines, turn, counter[5..]
-- ARGV owner, channel, grants, publish, counts (count), known[6..]
-- returns integer 1 released, 0 only waited, -1 neither held nor waited

-- A waiter leaves the line even if something else is stored at the lock by now.
local freed = redis.pcall('HDEL', lock, owner)
if counter[5] and freed == 1 then
  --functions
  raiseCounter(counter[5], known[6])
end
local lined = redis.call('EXISTS', queue) == 1
-- The lock is free even if the server refuses the message (an ACL without the channel): waiters find out by asking.
local told = not lined and freed == 1 and redis.pcall(publish, channel, '0')
if not lined and (type(told) ~= 'number' or told <= counts % 2) then
  return freed == 1 and 1 or freed == 0 and -1 or freed
end
--functions

local time = redis.call('TIME')
local line = {
  lock = lock, queue = queue, deadlines = deadlines, turn = turn, companion = true, grants = grants, publish = publish,
  channel = channel, client = string.sub(owner, 1, 36), stamp = time[1] .. string.format('%06d', time[2]),
  now = time[1] * 1000 + math.floor(time[2] / 1000), lined = lined,
}
readCounts(line, counts)
local waited, open = false, false
local function leave()
  waited = lined and removeWaiter(line, owner)
  open = handOver(line, freed == 1, waited)
end
-- What was released is free even if something else is stored at the line.
local done = pcall(leave)
if freed == 1 and lined and (not done or open or redis.call('EXISTS', lock) == 0) then
  redis.pcall(publish, channel, '0')
end
-- If nothing was released, tries once more: it fails again, with the server's own error, unless the first try has taken the place away.
if freed ~= 1 and not done then
  leave()
end
return freed == 1 and 1 or waited and 0 or freed == 0 and -1 or freed
