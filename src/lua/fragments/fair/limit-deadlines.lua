-- Whoever is `ahead` goes, and the lock is taken for `lease`: those of Redisson's right behind, who begin in `waiting` at
-- `first`, have their own allowances after that at most, and ours at least. Their deadlines were counted each from the one
-- before, and so hold all that a line which never empties has added up; ours are never made shorter.
local function limitDeadlines(line, ahead, waiting, first, lease)
  local before = tonumber(redis.call('ZSCORE', line.deadlines, ahead) or 0)
  local latest, least = line.now + lease, line.now + lease
  for i = first, #waiting do
    local deadline = not isOurs(waiting[i]) and tonumber(redis.call('ZSCORE', line.deadlines, waiting[i]))
    if not deadline then
      return i > first and keepOrder(line, waiting, i, least)
    end
    local own = before % 1 == 0 and math.max(deadline - before, line.allowance) or line.allowance
    latest, least, before = latest + math.min(own, 3600000), least + line.allowance, math.floor(deadline)
    redis.call('ZADD', line.deadlines, math.max(least, math.min(latest, deadline)), waiting[i])
  end
end
