-- The lock is free: the first in the line who can be reached has it from now on, and is told, together with the numbers of
-- those of its client who stand right behind it. `mine`: the owners who ask, with their leases; such a one has it at once.
-- One of ours has it on trial, until it confirms, and stays in the line till then; a fraction marks its deadline. Whose
-- client nobody hears is passed over and has a short lease to be heard again. One of Redisson's is woken and takes it
-- itself; its allowance begins. Returns who of `mine` has it.
local function grantNext(line, mine)
  local waiting = redis.call('LRANGE', line.queue, 0, 63)
  local deaf = {}
  for place, owner in ipairs(waiting) do
    local client = string.sub(owner, 1, 36)
    local trial = line.now + 3000.5
    if mine[owner] then
      bound(line, owner, waiting, place + 1, mine[owner])
      takeOut(line, owner)
      redis.call('HSET', line.lock, owner, 1)
      redis.call('PEXPIRE', line.lock, mine[owner])
      return owner
    elseif not isOurs(owner) then
      if place > 1 then
        bound(line, waiting[place - 1], waiting, place, line.lease)
        redis.call('LREM', line.queue, 1, owner)
        redis.call('LPUSH', line.queue, owner)
        -- When it has the lock it takes its allowance off all deadlines, also off those that it was moved ahead of.
        for i = 1, place - 1 do
          redis.call('ZADD', line.deadlines, trial + line.allowance, waiting[i])
        end
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
      if string.sub(waiting[i], 1, 36) ~= client then break end
      words[#words + 1] = string.sub(waiting[i], 38)
    end
    local told = deaf[client] and 0 or redis.pcall(line.publish, line.grants .. ':' .. client, table.concat(words, ' '))
    if told ~= 0 then
      bound(line, owner, waiting, place + 1, line.lease)
      redis.call('HSET', line.lock, owner, 1)
      redis.call('PEXPIRE', line.lock, 3000)
      redis.call('ZADD', line.deadlines, trial, owner)
      return nil
    end
    deaf[client] = true
    local known = tonumber(redis.call('ZSCORE', line.deadlines, owner) or 0)
    redis.call('ZADD', line.deadlines, math.min(known, trial), owner)
  end
  return nil
end
