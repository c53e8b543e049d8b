-- Whether somebody who is in knows of no line; where there are many, whether some of them do not show it.
local function hasOutsider(line)
  local fields = redis.call('HSCAN', line.lock, '0', 'COUNT', 32)[2]
  for i = 1, #fields, 2 do
    if fields[i] ~= 'mode' and isOutsider(fields[i]) then
      return true
    end
  end
  return false
end
