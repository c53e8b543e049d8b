-- Whether somebody who is in knows of no line; where there are many, whether some of them do not show it.
local function hasOutsider(line)
  local fields = fieldsAt(line.lock, '0', 32)
  for i = 1, #fields, 2 do
    if fields[i] ~= 'mode' and isOutsider(fields[i]) then
      return true
    end
  end
  return false
end
