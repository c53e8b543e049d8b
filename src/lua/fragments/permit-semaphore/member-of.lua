-- A permit's id as the server has it. Redisson 3.17 and later store 16 bytes, and show them in hex. Earlier versions stored the text
-- itself; such an id comes with a '=' in front.
local function memberOf(id)
  if string.sub(id, 1, 1) == '=' then return string.sub(id, 2) end
  return (string.gsub(id, '..', function(pair)
    return string.char(tonumber(pair, 16))
  end))
end
