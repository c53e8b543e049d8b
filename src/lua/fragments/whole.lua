-- A whole number as a client writes it and the server counts it, or else nil: another program may have written anything, and to Lua, 'nan',
-- 'inf' and '0x1F' are numbers, too. A number beyond what scripts may reply is nil, too.
local function whole(text)
  local number = text and #text <= 17 and (text == '0' or string.find(text, '^%-?[1-9]%d*$')) and tonumber(text)
  return number and math.abs(number) <= MAX_SAFE_INTEGER and number or nil
end
