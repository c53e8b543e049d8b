-- The mode of the lock once this owner is in. Whether it may enter now is decided in `grantInOrder`, and at first in `acquire.lua`.
local function entersOrBlocks(owner)
  return string.sub(owner, -6) == ':write' and 'write' or 'read'
end
