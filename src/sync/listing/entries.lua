-- What a client has published about its locks, some at a time. What is longer than any entry is another program's, and is left out.
-- KEYS index
-- ARGV from
-- returns [string next, string[pairs] entries] where to go on, 0 when that is all; fields and values in turn

local some, on = fieldsAt(index, from, 1000, LONGEST_ENTRY)
local entries = {}
for i = 1, #some, 2 do
  if #some[i] + #some[i + 1] <= LONGEST_ENTRY then entries[#entries + 1], entries[#entries + 2] = some[i], some[i + 1] end
end
return { on, entries }
