-- Where an owner's client hears that it has the lock.
local function grantChannel(line, owner)
  return line.grants .. ':' .. string.sub(owner, 1, 36)
end
