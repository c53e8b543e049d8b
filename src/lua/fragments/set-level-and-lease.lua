-- Sets how often an owner holds a lock, and for how long: a level never shortens the lease that the owner has. `left`: for how many ms it
-- holds the lock now; -1: without expiry, and so it stays. `write` writes both, for that many ms. The expiry must come first there: if a
-- script begins with a write that needs no memory, a server short of memory accepts its other writes, too. Returns the ms left.
local function setLevelAndLease(left, lease, write)
  left = left < 0 and left or math.max(left, lease)
  write(left)
  return left
end
