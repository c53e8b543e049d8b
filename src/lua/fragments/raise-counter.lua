-- Raises a counter that is below a token that a client is known to have, for example because the key was deleted. Compares as text,
-- because Lua's numbers are exact only up to 2^53. Returns the value of the counter now, '0' if it is not there, or the error of a refused
-- command. What is not a counter stays as it is: nothing shows which tokens came before.
local function raiseCounter(counter, least)
  local count = redis.pcall('GETRANGE', counter, 0, 31)
  if count == '' then
    local exists = redis.pcall('EXISTS', counter)
    count = exists == 0 and '0' or exists == 1 and '' or exists
  end
  if (count == '0' or isToken(count)) and (#count < #least or #count == #least and count < least) then
    local raised = redis.pcall('SET', counter, least)
    return raised.ok and least or raised
  end
  return count
end
