-- The token of whoever has the lock now, above all before it. Asked again it is another: of a line that was evicted nobody knows who
-- has had one. Where none is to be had, who is new there does not have the lock either.
local function nextToken(lock, owner, counter, known, isNew)
  local token
  raiseCounter(counter, known)
  orUndo(function()
    if isNew then redis.call('HDEL', lock, owner) end
  end, function()
    redis.call('INCR', counter)
    -- As text: a number of Lua's is exact up to 2^53 only.
    token = redis.call('GET', counter)
  end)
  return token
end
