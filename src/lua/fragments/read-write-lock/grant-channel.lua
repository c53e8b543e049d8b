-- Where an owner's client hears that it is in; those who write hear elsewhere than those who read.
local function grantChannel(line, owner)
  return line.grants .. ':' .. string.sub(owner, 1, 36) .. (string.sub(owner, -6) == ':write' and ':write' or '')
end
