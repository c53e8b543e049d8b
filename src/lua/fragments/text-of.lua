-- What a key holds as a text, false where it holds nothing. Of a long text only so much as shows that it is no number: another
-- program may have left megabytes there.
local function textOf(key)
  local text = redis.call('GETRANGE', key, 0, 31)
  return (text ~= '' or redis.call('EXISTS', key) == 1) and text
end
