-- The token of the current holder, higher than all before it. If asked again, it is another one: if the line was evicted, nothing says who
-- has had a token. If no token can be counted, returns the error, and a new holder loses the lock again.
local function nextToken(lock, owner, counter, known, isNew)
  local token
  local function undo()
    if isNew then redis.call('HDEL', lock, owner) end
  end
  orUndo(undo, function()
    token = newToken(counter, known)
  end)
  if type(token) == 'table' then undo() end
  return token
end
