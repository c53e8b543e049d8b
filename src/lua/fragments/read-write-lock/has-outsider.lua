-- Whether an outsider is in, among about 32 owners: if there are many, some are not looked at.
local function hasOutsider(line)
  local fields = fieldsAt(line.lock, '0', 32)
  for i = 1, #fields, 2 do
    if fields[i] ~= 'mode' and isOutsider(fields[i]) then
      return true
    end
  end
  return false
end
