-- The clients that are connected, some at a time.
-- KEYS register
-- ARGV first (integer)
-- returns [integer looked, string[] clients] how many members were looked at, 0 at the end; those of them whose time is not over

local some = membersAt(register, first, 500)
local now, clients = serverNow(), {}
for i = 1, #some, 2 do
  -- What is longer is another program's.
  if #some[i] < LONGEST_NAME and (tonumber(some[i + 1]) or 0) > now then clients[#clients + 1] = some[i] end
end
return { #some / 2, clients }
