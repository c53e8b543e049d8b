-- Raises a counter that is below a token that a client is known to have, for example because the key was deleted. Compares as text,
-- because Lua's numbers are exact only up to 2^53. An error is ignored here: the command that counts up next fails with it, too.
-- Returns the value of the counter now.
local function raiseCounter(counter, least)
  local count = redis.pcall('GETRANGE', counter, 0, 31)
  if count == '' and redis.pcall('EXISTS', counter) == 0 then
    count = '0'
  end
  -- A value below zero is lower than any token.
  local below = type(count) == 'string' and (#count < #least or #count == #least and count < least or string.sub(count, 1, 1) == '-')
  if below and redis.pcall('SET', counter, least).ok then
    return least
  end
  return count
end
