-- How many permits an owner had been granted on trial; what becomes of them is for the caller to say. Who waits stays in the line.
local function endTrial(line, owner)
  local has = grantedTo(line, owner)
  if has > 0 then
    redis.call('ZREM', line.deadlines, owner)
    redis.call('HDEL', line.amounts, owner)
  end
  return has
end
