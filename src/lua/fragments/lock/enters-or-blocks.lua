-- Whoever has it has it alone.
local function entersOrBlocks()
  return 'write'
end
