-- Whether an owner belongs to a client that knows of no line. After the client's id, Redisson has the number of a thread, and we have nine
-- digits of a secret and a running number.
local function isOutsider(owner)
  return not string.find(owner, '^%d%d%d%d%d%d%d%d%d%d', 38)
end
