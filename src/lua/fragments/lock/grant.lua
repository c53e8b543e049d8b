-- Has the lock from now on, for so long.
local function grant(line, owner, lease)
  takeHold(line.lock, owner, lease)
end
