-- Reads if nobody writes, or writes if nobody holds the lock; and only if nobody waits in the line and the lock is not left to outsiders.
-- If its holder asks again (a reply was lost), it is still one hold.
-- KEYS lock, queue, turn
-- ARGV owner, lease (ms), companion
-- returns 'held' | integer ms that another owner keeps it, -1 if it has no expiry, -2 if it may be another's turn

local line = { lock = lock, turn = turn, companion = companion }
if redis.call('EXISTS', lock, queue, turn) > 0 then
  --functions
  local left, mode = leftOf(lock), redis.call('HGET', lock, 'mode')
  if left ~= -2 and mode ~= 'read' and mode ~= 'write' then
    return wrongKind(lock)
  end
  if not isHolder(line, owner) then
    if mode == 'write' or mode and entersOrBlocks(owner) == 'write' then
      return left
    end
    local time = redis.call('TIME')
    line.now = time[1] * 1000 + math.floor(time[2] / 1000)
    if redis.call('EXISTS', queue) == 1 or turnLeft(line) > 0 then
      return -2
    end
    if not mode then
      endTurn(line)
    end
  end
end
grant(line, owner, lease)
return 'held'
