-- Continues with the call behind `calls`, in order, as long as there are permits. Returns the last call that fits, and how
-- many permits those calls want.
local function fitCalls(wanted, calls, left)
  local taken, more = 0, tonumber(wanted[calls + 1])
  while more and taken + more <= left do
    calls, taken = calls + 1, taken + more
    more = tonumber(wanted[calls + 1])
  end
  return calls, taken
end
