-- Somebody is granted the lock for `lease`: one of Redisson's right behind is overdue when its own allowance after that is
-- over. Its deadline was counted from that of the one before it; ours are never made shorter.
local function bound(line, granted, behind, lease)
  local deadline = behind and not isOurs(behind) and redis.call('ZSCORE', line.deadlines, behind)
  if not deadline then
    return
  end
  local before = tonumber(redis.call('ZSCORE', line.deadlines, granted) or 0)
  local allowance = line.allowance
  if before % 1 == 0 then
    allowance = math.min(math.max(tonumber(deadline) - before, allowance), 3600000)
  end
  local latest = line.now + lease + allowance
  if latest < tonumber(deadline) then
    redis.call('ZADD', line.deadlines, latest, behind)
  end
end
