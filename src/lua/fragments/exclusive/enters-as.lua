-- Whoever has it has it alone.
local function entersAs()
  return 'write'
end
