-- The lock is free: the first in the line who can be reached has it from now on, and is told, together with the numbers of
-- those of its client who stand right behind it, and a + where another's follow. `mine`: the owners who ask, with their
-- leases; such a one has it at once. One of ours has it on trial, until it confirms, and stays in the line till then; a
-- fraction marks its deadline and says since when. Whose client nobody hears is passed over and has a short lease to be heard
-- again. One of Redisson's is woken and takes it itself; its allowance begins. Returns who of `mine` has it. Where a dead client
-- has places left and nobody has it, the client that asked is to ask again.
local function grantNext(line, mine)
  local waiting, deaf = redis.call('LRANGE', line.queue, 0, 63), line.dead
  local trial = line.now + TRIAL + (1 + math.floor(line.now / TICK) % TICKS) / TICK_UNITS
  for place, owner in ipairs(waiting) do
    local client = string.sub(owner, 1, 36)
    -- Nobody has heard so far: farther on.
    if place % 64 == 0 and place < 384 and not line.rest then
      for _, behind in ipairs(redis.call('LRANGE', line.queue, place, place + 63)) do waiting[#waiting + 1] = behind end
    end
    if mine[owner] then
      limitDeadlines(line, owner, waiting, place + 1, mine[owner])
      removeWaiter(line, owner)
      takeHold(line.lock, owner, mine[owner])
      return owner
    elseif not isOurs(owner) then
      if place > 1 then
        limitDeadlines(line, waiting[place - 1], waiting, place, math.min(line.lease, TRIAL))
        redis.call('LREM', line.queue, 1, owner)
        redis.call('LPUSH', line.queue, owner)
        -- When it has the lock it takes its allowance off all deadlines, also off those that it was moved ahead of.
        for i = 1, place - 1 do
          local mark = redis.call('ZSCORE', line.deadlines, waiting[i]) % 1
          redis.call('ZADD', line.deadlines, line.now + TRIAL + line.allowance + mark, waiting[i])
        end
        keepOrder(line, waiting, place + 1, trial + line.allowance)
      elseif waiting[2] then
        -- Where those ahead of it were dropped it may be due much later. Alone it is left so: who joins counts from it.
        local known = tonumber(redis.call('ZSCORE', line.deadlines, owner) or 0)
        redis.call('ZADD', line.deadlines, math.min(known, line.now + line.allowance), owner)
      end
      redis.pcall(line.publish, line.channel .. ':' .. owner, '0')
      return nil
    end
    local words = { owner, line.stamp }
    -- Who was passed over may come back in between.
    for i = 2, place == 1 and #waiting or 0 do
      local same = string.sub(waiting[i], 1, 36) == client
      words[#words + 1] = same and waiting[i] or '+'
      if not same then break end
    end
    local function write()
      takeHold(line.lock, owner, TRIAL)
    end
    if not deaf[client] and publishGrant(line, line.grants .. ':' .. client, words, write) then
      limitDeadlines(line, owner, waiting, place + 1, math.max(line.lease, TRIAL))
      keepOrder(line, waiting, place + 1, trial)
      redis.call('ZADD', line.deadlines, trial, owner)
      return nil
    end
    deaf[client] = true
    local known = tonumber(redis.call('ZSCORE', line.deadlines, owner) or 0)
    -- As soon as it has been marked the mark stays.
    local mark = (known % 1 == 0 and trial or known) % 1
    redis.call('ZADD', line.deadlines, math.min(math.floor(known), line.now + TRIAL) + mark, owner)
  end
  if line.rest then
    redis.pcall(line.publish, line.grants .. ':' .. line.rest, '0')
  end
end
