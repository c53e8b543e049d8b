-- Whoever is `ahead` goes, and the lock is taken for `lease`: those of Redisson's right behind, who begin `behind` at `first`,
-- are overdue when their own allowances after that are over. Their deadlines were counted each from the one before, and so
-- hold all that a line which never empties has added up; ours are never made shorter.
local function bound(line, ahead, behind, first, lease)
  local before = tonumber(redis.call('ZSCORE', line.deadlines, ahead) or 0)
  local latest = line.now + lease
  for i = first, #behind do
    local deadline = not isOurs(behind[i]) and tonumber(redis.call('ZSCORE', line.deadlines, behind[i]))
    if not deadline then return end
    local own = before % 1 == 0 and math.max(deadline - before, line.allowance) or line.allowance
    latest, before = latest + math.min(own, 3600000), deadline
    redis.call('ZADD', line.deadlines, math.min(latest, deadline), behind[i])
  end
end
