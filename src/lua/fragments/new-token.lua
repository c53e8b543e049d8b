-- A token higher than all before it, or the error why there is none. As text, because Lua's numbers are exact only up to 2^53.
local function newToken(counter, known)
  local count = raiseCounter(counter, known)
  if type(count) == 'table' then
    return count
  elseif count ~= '0' and not isToken(count) or count == '9223372036854775807' then
    return wrongCounter(count)
  end
  redis.call('INCR', counter)
  return redis.call('GET', counter)
end
