-- A holder excludes all others.
local function entersOrBlocks()
  return 'write'
end
