-- A whole number as a client writes it, or nil: another program may have written anything, and to Lua 'nan', 'inf' and '0x1F'
-- are numbers, too.
local function whole(text)
  return text and #text <= 15 and string.find(text, '^%-?%d+$') and tonumber(text) or nil
end
