-- In how many ms to ask again while it is the turn of the others. However the lock came to be free, they have `grace` ms to
-- come; once they are in their turn is soon over, and a waiter that takes longer to ask is overtaken.
local function untilTurn(turn, free, grace)
  local left = redis.call('PTTL', turn)
  if free and left > grace then
    redis.call('PEXPIRE', turn, grace)
    left = grace
  end
  return math.max(math.min(left, 50), 1)
end
