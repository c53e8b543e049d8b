-- The mode of the lock once this owner is in.
local function entersOrBlocks(owner)
  return string.sub(owner, -6) == ':write' and 'write' or 'read'
end
