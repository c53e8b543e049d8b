-- Whether an owner is of a client that knows of no line: Redisson has a thread's number where ours has nine digits of a secret
-- and a number of its own.
local function isOutsider(owner)
  return not string.find(owner, '^%d%d%d%d%d%d%d%d%d%d', 38)
end
