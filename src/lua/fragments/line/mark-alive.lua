-- Handles the owners that ask, each with its lease from `first` on: a holder leaves the line, and a place in the line is marked as alive.
-- Its mark also says why the server cannot count its client as a listener, if that is known (`isHeard`). Returns the leases by owner.
local function markAlive(line, owners, first)
  -- If one of the two keys was evicted, all that are alive join again.
  if redis.call('EXISTS', line.queue) == 0 then redis.call('UNLINK', line.deadlines) end
  local mine, living = {}, false
  for i = first, #owners, 2 do
    local owner, lease = owners[i], tonumber(owners[i + 1])
    local deadline = confirm(line, owner, lease) == 0 and redis.call('ZSCORE', line.deadlines, owner)
    mine[owner] = lease
    if deadline then
      local due, mark = math.max(math.floor(deadline), line.now + ALLOWANCE), deadline % 1
      redis.call('ZADD', line.deadlines, due + (not line.hearsNothing and (mark == GRANTED or mark == UNCOUNTED) and UNCOUNTED or 0), owner)
      living = true
    end
  end
  if living then extendLine(line) end
  local head = living and line.hearsNothing and firstInLine(line)
  if mine[head] and redis.call('ZSCORE', line.deadlines, head) then redis.call('ZINCRBY', line.deadlines, HEARS_NOTHING, head) end
  return mine
end
