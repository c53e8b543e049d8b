-- 'read': there are as many permits as this place in the line wants; 'write': it has to wait, and so has everybody behind it.
-- `line.asks`: only because so many in one step are enough. It is to ask again. Whoever asked
-- whether it is a holder has just read its amount.
local function entersOrBlocks(owner, line)
  local wants = -(whole(line.amount) or 0)
  line.wants = wants
  local enough = wants > 0 and wants <= line.left
  line.asks = enough and wants > line.most and owner ~= line.asker
  return enough and not line.asks and 'read' or 'write'
end
