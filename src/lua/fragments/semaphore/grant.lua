-- Grants an owner as many permits as it wants (`entersOrBlocks`): from now on they are its own, even if it is dead. `line.granted`: the
-- owners that were granted permits, and how many.
local function grant(line, owner)
  local wants = line.wants
  redis.call('DECRBY', line.permits, wants)
  orUndo(function()
    redis.call('INCRBY', line.permits, wants)
  end, redis.call, 'HSET', line.amounts, owner, wants)
  line.left = line.left - wants
  line.granted[#line.granted + 1], line.granted[owner] = owner, wants
end
