-- How many permits an owner has been granted on trial. `line.amount`: what is known of its amount.
local function grantedTo(line, owner)
  line.amount = redis.call('HGET', line.amounts, owner)
  return grantsIn(line.amount, line.amount or redis.call('ZSCORE', line.deadlines, owner))
end
