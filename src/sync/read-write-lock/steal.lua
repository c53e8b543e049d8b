-- Ends all reads or the write, and lets this owner write, ahead of the line. The line stays. If its holder asks again (a reply was lost),
-- it is still one hold.
-- KEYS lock, queue, deadlines, turn
-- ARGV owner, lease (ms), companion
-- returns integer 1

local time = redis.call('TIME')
local line = {
  lock = lock, queue = queue, deadlines = deadlines, turn = turn, companion = companion,
  now = time[1] * 1000 + math.floor(time[2] / 1000),
}
if not isHolder(line, owner) then
  local mode = redis.call('HGET', lock, 'mode')
  if mode ~= 'read' and mode ~= 'write' and redis.call('EXISTS', lock) == 1 then
    return wrongKind(lock)
  end
  endReads(lock, companion)
  removeTrials(line)
  redis.call('UNLINK', lock)
  endTurn(line)
end
grant(line, owner, lease)
return 1
