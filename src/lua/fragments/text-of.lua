-- What a key holds as a text; false if it holds nothing. Of a long text, just enough to show that it is not a number: another program
-- may have left megabytes there.
local function textOf(key)
  local text = redis.call('GETRANGE', key, 0, 31)
  return (text ~= '' or redis.call('EXISTS', key) == 1) and text
end
