-- 'read': there are as many permits as this place wants; 'write': it has to wait, and so do all behind it. `isHolder`, which was called
-- just before, has read its amount.
local function entersOrBlocks(owner, line)
  local wants = -(whole(line.amount) or 0)
  line.wants = wants
  return wants > 0 and wants <= line.left and 'read' or 'write'
end
