-- Whoever has it has it alone.
local function mayEnter()
  return 'write'
end
