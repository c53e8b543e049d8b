-- 'read': there are as many permits as this place in the line wants; 'write': it has to wait, and so has everybody behind it. Whoever
-- asked whether it is a holder has just read its amount.
local function entersOrBlocks(owner, line)
  local wants = -(whole(line.amount) or 0)
  line.wants = wants
  return wants > 0 and wants <= line.left and 'read' or 'write'
end
