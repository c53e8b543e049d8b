-- Whoever is `ahead` goes, and the lock is taken for `lease`: those of Redisson's right behind are overdue when their own
-- allowances after that are over. Their deadlines were counted each from the one before, and so hold all that a line which
-- never empties has added up; ours are never made shorter.
local function bound(line, ahead, behind, lease)
  local before = tonumber(redis.call('ZSCORE', line.deadlines, ahead) or 0)
  local latest, reached = line.now + lease, false
  for _, owner in ipairs(behind and not isOurs(behind) and redis.call('LRANGE', line.queue, 0, -1) or {}) do
    reached = reached or owner == behind
    local deadline = reached and not isOurs(owner) and tonumber(redis.call('ZSCORE', line.deadlines, owner))
    if deadline then
      local own = before % 1 == 0 and math.max(deadline - before, line.allowance) or line.allowance
      latest, before = latest + math.min(own, 3600000), deadline
      redis.call('ZADD', line.deadlines, math.min(latest, deadline), owner)
    elseif reached then return end
  end
end
