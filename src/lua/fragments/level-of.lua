-- How often an owner holds a lock; 0 if another program has written something else there.
local function levelOf(text)
  return text and string.find(text, LEVEL_COUNT) and tonumber(text) or 0
end
