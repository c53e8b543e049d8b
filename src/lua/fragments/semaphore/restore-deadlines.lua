-- Each place has a deadline and an amount. Where deadlines were evicted, places have 3 s to ask again: what was granted to who does not is
-- given back. Of very many, some.
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
