-- Wakes one of Redisson's at this place of those waiting: it takes the lock itself, when it is at the head, and its allowance begins
-- now. Those ahead of it could not be reached: it is moved ahead of them, and they have a trial to be heard again.
local function wakeRedisson(line, waiting, place, trial)
  local owner = waiting[place]
  if place > 1 then
    limitDeadlines(line, waiting[place - 1], waiting, place, math.min(line.lease, TRIAL))
    redis.call('LREM', line.queue, 1, owner)
    redis.call('LPUSH', line.queue, owner)
    -- When it has the lock it takes its allowance off all deadlines, also off those that it was moved ahead of.
    for i = 1, place - 1 do
      local mark = (deadlineOf(line, waiting[i]) or 0) % 1
      redis.call('ZADD', line.deadlines, line.now + TRIAL + line.allowance + mark, waiting[i])
    end
    keepOrder(line, waiting, place + 1, trial + line.allowance)
  elseif placeAt(line.queue, waiting, 2) then
    -- Where those ahead of it were dropped it may be due much later. Alone it is left so: who joins counts from it.
    local known = deadlineOf(line, owner) or 0
    redis.call('ZADD', line.deadlines, math.min(known, line.now + line.allowance), owner)
  end
  redis.pcall(line.publish, line.channel .. ':' .. owner, '0')
end
