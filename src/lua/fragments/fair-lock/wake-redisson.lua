-- Wakes up the Redisson client at this place of the line: it acquires the lock itself once it is at the head, and its allowance begins now.
-- The places ahead of it could not be reached: it moves ahead of them, and they have the time of a trial to ask.
local function wakeRedisson(line, waiting, place, trial)
  local owner = waiting[place]
  if place > 1 then
    limitDeadlines(line, waiting[place - 1], waiting, place, math.min(line.lease, TRIAL))
    redis.call('LREM', line.queue, 1, owner)
    redis.call('LPUSH', line.queue, owner)
    -- When it acquires the lock, it takes its allowance off all deadlines, including those of the places that it moved ahead of. So
    -- they get the allowance in advance.
    for i = 1, place - 1 do
      local mark = (storedDeadline(line, waiting[i]) or 0) % 1
      redis.call('ZADD', line.deadlines, line.now + TRIAL + line.allowance + mark, waiting[i])
    end
    keepOrder(line, waiting, place + 1, trial + line.allowance)
  elseif placeAt(line.queue, waiting, 2) then
    -- If those ahead of it were dropped, it may be due much later. If it is alone, its deadline stays, because newcomers count from it.
    local known = storedDeadline(line, owner) or 0
    redis.call('ZADD', line.deadlines, math.min(known, line.now + line.allowance), owner)
  end
  redis.pcall(line.publish, line.channel .. ':' .. owner, '0')
end
