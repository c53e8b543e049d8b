-- The token of the current holder, higher than all before it. If asked again, it is another one: if the line was evicted, nothing says who
-- has had a token. If no token can be counted, a new holder loses the lock again.
local function nextToken(lock, owner, counter, known, isNew)
  local token
  raiseCounter(counter, known)
  orUndo(function()
    if isNew then redis.call('HDEL', lock, owner) end
  end, function()
    redis.call('INCR', counter)
    -- As text, because Lua's numbers are exact only up to 2^53.
    token = redis.call('GET', counter)
  end)
  return token
end
