-- Whether this owner has been granted what it wants, on trial.
local function isIn(line, owner)
  return (whole(redis.call('HGET', line.amounts, owner)) or 0) > 0
end
