-- For how many ms an owner holds a lock if its level is set with `lease`: a level never shortens what the owner has. `left`: for how many ms
-- it holds the lock now; -1: without expiry, and so it stays.
local function neverShorter(left, lease)
  return left < 0 and left or math.max(left, lease)
end
