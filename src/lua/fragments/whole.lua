-- A whole number as a client writes it, or nil: another program may have written anything, and to Lua 'nan', 'inf' and '0x1F'
-- are numbers, too. From 2^53 on Lua's are not exact.
local function whole(text)
  local number = text and #text <= 17 and string.find(text, '^%-?%d+$') and tonumber(text)
  return number and math.abs(number) < 9007199254740992 and number or nil
end
