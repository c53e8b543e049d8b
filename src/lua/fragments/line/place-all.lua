-- How the owners that ask stand, in their order, if the lock is in this mode: 1 in, `atHead` first in the line, 3 behind others there, 0
-- refused, 2 has no place, and asked too late for one. An owner that may enter does so, and one that joins stands at the end.
local function placeAll(line, owners, first, mine, mode, joins, atHead)
  local states, head = {}, nil
  local function leaveAll() for owner in pairs(mine) do removeWaiter(line, owner) end end
  for i = first, #owners, 2 do
    local owner, state = owners[i], 0
    local wants, stands = entersOrBlocks(owner, line), redis.call('ZSCORE', line.deadlines, owner)
    if isHolder(line, owner) then
      state = 1
    elseif not stands and line.now > line.notAfter then
      state = 2
    elseif not stands and (not mode or mode == 'read' and wants == 'read') then
      grant(line, owner, mine[owner])
      mode, state = wants, 1
    elseif stands or joins then
      if not stands then
        redis.call('ZADD', line.deadlines, line.now + line.allowance, owner)
        orUndo(leaveAll, redis.call, 'RPUSH', line.queue, owner)
        orUndo(leaveAll, extendLine, line)
      end
      -- Read once: another program may have written a megabyte there.
      head = head or firstInLine(line)
      state = head == owner and atHead or 3
    end
    states[#states + 1] = state
  end
  return states
end
