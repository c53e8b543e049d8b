-- How many of the calls, from the one behind `calls` on, there are permits for, in their order; and how many permits those want.
local function fitIn(wanted, calls, left)
  local taken, more = 0, tonumber(wanted[calls + 1])
  while more and taken + more <= left do
    calls, taken = calls + 1, taken + more
    more = tonumber(wanted[calls + 1])
  end
  return calls, taken
end
