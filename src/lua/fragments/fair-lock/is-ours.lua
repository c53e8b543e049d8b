-- Whether an owner's client understands a direct grant as it is written here: a UUID of version 8, revision 1.
local function isOurs(owner)
  return string.sub(owner, 15, 16) == '81'
end
