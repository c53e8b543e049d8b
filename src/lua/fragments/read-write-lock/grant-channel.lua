-- The channel on which an owner's client hears that it is in; writers have another one than readers.
local function grantChannel(line, owner)
  return line.grants .. ':' .. string.sub(owner, 1, 36) .. (string.sub(owner, -6) == ':write' and ':write' or '')
end
