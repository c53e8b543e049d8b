-- The lock is free: the first in the line who can be reached has it from now on. `mine`: the owners who ask, with their leases; such a
-- one has it at once. Another of ours has it on trial, is told, and stays in the line until it confirms; one of Redisson's is woken.
-- Whose client nobody hears is passed over, and has as long as a trial to be heard again. Returns who of `mine` has it.
local function grantNext(line, mine)
  local waiting, deaf = {}, line.dead
  local trial = line.now + TRIAL + markNow(line.now)
  -- After so many whom nobody hears the next script goes on, when somebody asks.
  for place = 1, line.rest and 64 or 384 do
    local owner = placeAt(line.queue, waiting, place)
    if not owner then break end
    local client = string.sub(owner, 1, 36)
    if mine[owner] then
      limitDeadlines(line, owner, waiting, place + 1, mine[owner])
      removeWaiter(line, owner, true)
      takeHold(line.lock, owner, mine[owner])
      return owner
    elseif not isOurs(owner) and #owner < LONGEST_NAME then
      wakeRedisson(line, waiting, place, trial)
      return nil
    end
    local words = { owner, line.stamp }
    -- Those of its client right behind it, whom it may pass the lock to, and a + where another's follow. Who was passed over may come
    -- back in between.
    for i = 2, place == 1 and 64 or 0 do
      local behind = placeAt(line.queue, waiting, i)
      if not behind then break end
      local same = string.sub(behind, 1, 36) == client and #behind < LONGEST_NAME
      words[#words + 1] = same and behind or '+'
      if not same then break end
    end
    local function write()
      takeHold(line.lock, owner, TRIAL)
    end
    if not deaf[client] and #owner < LONGEST_NAME and publishGrant(line, line.grants .. ':' .. client, words, write, 0) then
      limitDeadlines(line, owner, waiting, place + 1, math.max(line.lease, TRIAL))
      keepOrder(line, waiting, place + 1, trial)
      redis.call('ZADD', line.deadlines, trial, owner)
      return nil
    end
    deaf[client] = true
    local known = deadlineOf(line, owner) or 0
    -- As soon as it has been marked the mark stays.
    local mark = (known % 1 == 0 and trial or known) % 1
    redis.call('ZADD', line.deadlines, math.min(math.floor(known), line.now + TRIAL) + mark, owner)
  end
  -- A dead client has places left and nobody has the lock: the client that asked is to ask again.
  if line.rest then
    redis.pcall(line.publish, line.grants .. ':' .. line.rest, '0')
  end
end
