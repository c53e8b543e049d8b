-- For how many ms it is still the turn of the others. However the lock came to be free, they have `grace` ms to come.
local function untilTurn(turn, free, grace)
  local left = redis.call('PTTL', turn)
  if free and left > grace then
    redis.call('PEXPIRE', turn, grace)
    left = grace
  end
  return math.max(left, 1)
end
