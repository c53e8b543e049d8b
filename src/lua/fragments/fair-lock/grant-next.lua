-- The lock is free: grants it to the first in the line that can be reached. `mine`: the owners that ask, with their leases; such an
-- owner holds the lock at once. Another of our owners gets it on trial, with a message, and stays in the line until it confirms. A
-- Redisson owner is woken up. A place whose client does not listen is skipped, and has the time of a trial to ask. Returns the owner in
-- `mine` that holds the lock now.
local function grantNext(line, mine)
  local waiting, deaf = {}, line.dead
  local trial = line.now + TRIAL + markNow(line.now)
  -- After this many skipped places, the next script continues, when a client asks.
  for place = 1, line.rest and 64 or 384 do
    local owner = placeAt(line.queue, waiting, place)
    if not owner then break end
    local client = string.sub(owner, 1, 36)
    if mine[owner] then
      limitDeadlines(line, owner, waiting, place + 1, mine[owner])
      removeWaiter(line, owner, true)
      takeFirstHold(line.lock, owner, mine[owner])
      return owner
    elseif not isOurs(owner) and #owner < LONGEST_NAME then
      wakeRedisson(line, waiting, place, trial)
      return nil
    end
    local words = { owner, line.stamp }
    -- The message names the places of this client right behind the granted one, to which it may pass the lock; a + means that another
    -- client's follow. Not if places were skipped: they may come back in between.
    for i = 2, place == 1 and 64 or 0 do
      local behind = placeAt(line.queue, waiting, i)
      if not behind then break end
      local same = string.sub(behind, 1, 36) == client and #behind < LONGEST_NAME
      words[#words + 1] = same and behind or '+'
      if not same then break end
    end
    local function write()
      takeFirstHold(line.lock, owner, TRIAL)
    end
    if not deaf[client] and #owner < LONGEST_NAME and publishGrant(line, line.grants .. ':' .. client, words, write, 0) then
      limitDeadlines(line, owner, waiting, place + 1, math.max(line.lease, TRIAL))
      keepOrder(line, waiting, place + 1, trial)
      redis.call('ZADD', line.deadlines, trial, owner)
      return nil
    end
    deaf[client] = true
    local known = storedDeadline(line, owner) or 0
    -- Once a place has a mark, the mark stays.
    local mark = (known % 1 == 0 and trial or known) % 1
    redis.call('ZADD', line.deadlines, math.min(math.floor(known), line.now + TRIAL) + mark, owner)
  end
  -- A dead client has places left, and nobody has the lock: the client that asked must ask again.
  if line.rest then
    redis.pcall(line.publish, line.grants .. ':' .. line.rest, '0')
  end
end
