-- What a client has published about its locks, some at a time. What is longer than any entry is another program's, and is left out.
-- KEYS index
-- ARGV from
-- returns [string next, string lines, string[pairs] others] where to go on, 0 when that is all; fields and values in turn, each a line: one
-- text is read much faster than thousands; those that are of several lines themselves

local some, on = fieldsAt(index, from, 1000, LONGEST_ENTRY)
local lines, others = {}, {}
for i = 1, #some, 2 do
  local field, value = some[i], some[i + 1]
  if #field + #value <= LONGEST_ENTRY then
    local long = string.find(field, '\n', 1, true) or string.find(value, '\n', 1, true)
    local list = long and others or lines
    list[#list + 1], list[#list + 2] = field, value
  end
end
return { on, table.concat(lines, '\n'), others }
