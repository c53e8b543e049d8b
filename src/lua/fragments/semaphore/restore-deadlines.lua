-- Each place has a deadline and an amount. If deadlines were evicted, their places have 3 s to ask again; if they do not, what they were
-- granted goes back. If there are very many, only some are restored.
local function restoreDeadlines(line)
  if redis.call('HLEN', line.amounts) <= redis.call('ZCARD', line.deadlines) then
    return
  end
  local some = fieldsAt(line.amounts, '0', 200)
  for i = 1, math.min(#some, 1000), 2 do
    if #some[i] < LONGEST_NAME and not redis.call('ZSCORE', line.deadlines, some[i]) then
      redis.call('ZADD', line.deadlines, line.now + TRIAL, some[i])
    end
  end
  redis.call('PEXPIRE', line.deadlines, AMOUNTS_TIME)
end
