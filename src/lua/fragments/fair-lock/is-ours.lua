-- Whether an owner's client understands grants as they are written here: its id is a UUID of version 8, revision 1.
local function isOurs(owner)
  return string.sub(owner, 15, 16) == '81'
end
