-- How many permits an owner was granted that have not lapsed; what becomes of them is for the caller to say, for their trial ends here.
-- What has lapsed goes back as everything does that lapses. Who waits stays in the line.
local function endTrial(line, owner)
  local has, due = grantedTo(line, owner), redis.call('ZSCORE', line.deadlines, owner)
  if has <= 0 then return 0 end
  redis.call('ZREM', line.deadlines, owner)
  redis.call('HDEL', line.amounts, owner)
  if not due or math.floor(due) <= line.now then return 0 end
  return redis.call('ZREM', line.timeouts, unpack(trialIds(owner, math.min(has, MOST_GRANTED))))
end
