-- Grants an owner as many permits as it wants (`entersOrBlocks`), which lapse after 3 s unless it confirms. The owner that asks has ids of
-- its own for them: its permits only count as paid (`line.paid`).
local function grant(line, owner, trial)
  local wants = line.wants
  line.left = redis.call('DECRBY', line.permits, wants) + line.over
  line.granted[#line.granted + 1], line.granted[owner] = owner, wants
  if trial == 1 then
    line.paid = line.paid + wants
    redis.call('HDEL', line.amounts, owner)
  else
    line.most = line.most - wants
    local back = addIds(line.permits, line.timeouts, trialIds(owner, wants), {}, line.now)
    -- If the step counts expired permits, these were among them already.
    line.left, line.over = line.left + math.max(0, back - line.over), math.max(0, line.over - back)
    redis.call('HSET', line.amounts, owner, wants)
  end
end
