-- 'read': there are as many permits as this place in the line wants; 'write': it has to wait, and so has everybody behind it.
local function mayEnter(owner, line)
  local wants = -(whole(redis.call('HGET', line.amounts, owner)) or 0)
  return wants > 0 and wants <= line.left and 'read' or 'write'
end
