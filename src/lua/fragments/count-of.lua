-- How often an owner holds a lock; 0 where another program has written something else there.
local function countOf(text)
  return text and string.find(text, '^[1-9]%d?%d?%d?$') and tonumber(text) or 0
end
