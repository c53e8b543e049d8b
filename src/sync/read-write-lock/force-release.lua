-- Releases the lock by force: all reads, or the write and the reads of its own owner. The next in the line enters.
-- KEYS lock, queue, deadlines
-- ARGV mode, message, companion, channel, grants, publish
-- returns integer 1 if it was held in this mode, 0 if not

local time = redis.call('TIME')
local line = {
  lock = lock, queue = queue, deadlines = deadlines, companion = companion, grants = grants, publish = publish,
  client = '', stamp = time[1] .. string.format('%06d', time[2]),
  now = time[1] * 1000 + math.floor(time[2] / 1000),
}
local found = redis.call('HGET', lock, 'mode')
if found ~= mode then
  local foreign = found ~= 'read' and found ~= 'write' and redis.call('EXISTS', lock) == 1
  return foreign and wrongKind(lock) or 0
end
endReads(lock, companion)
removeTrials(line)
redis.call('UNLINK', lock)
grantInOrder(line, {})
redis.pcall(publish, channel, message)
return 1
