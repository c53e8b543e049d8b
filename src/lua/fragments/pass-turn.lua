-- Those of this mode have had their turn; whose it is next has `grace` ms to come.
local function passTurn(turn, mode, grace)
  local whose = redis.call('GET', turn)
  if whose and string.sub(whose, 1, #mode) == mode then
    redis.call('DEL', turn)
  elseif whose then
    redis.call('PEXPIRE', turn, grace)
  end
end
