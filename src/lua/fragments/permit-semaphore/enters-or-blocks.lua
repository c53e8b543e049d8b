-- 'read': there are as many permits as this place wants; 'write': it has to wait, and so do all behind it. `line.asks`: it waits only
-- because one step grants a limited number, and must ask again. `isHolder`, which was called just before, has read its amount.
local function entersOrBlocks(owner, line)
  local wants = -(whole(line.amount) or 0)
  line.wants = wants
  local enough = wants > 0 and wants <= line.left
  line.asks = enough and wants > line.most and owner ~= line.asker
  return enough and not line.asks and 'read' or 'write'
end
