-- Whether a counter holds a token: a whole number from 1 to the largest that the server can count. Another program
-- may have written anything there.
local function isToken(text)
  return type(text) == 'string' and #text < 20 and string.find(text, '^[1-9]%d*$') and (#text < 19 or text <= '9223372036854775807')
end
