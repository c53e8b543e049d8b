-- The channel on which an owner's client hears of its grants.
local function grantChannel(line, owner)
  return line.grants .. ':' .. string.sub(owner, 1, 36)
end
