-- The counter is never below what somebody is known to have had, also where its key was deleted. Compared as text: a number
-- of Lua's is exact up to 2^53 only. What goes wrong here is met, and told, by whoever counts on. Returns what it is now.
local function raiseCounter(counter, least)
  local count = redis.pcall('GET', counter) or '0'
  -- Below zero is below all.
  local below = type(count) == 'string' and (#count < #least or #count == #least and count < least or string.sub(count, 1, 1) == '-')
  if below and redis.pcall('SET', counter, least).ok then
    return least
  end
  return count
end
