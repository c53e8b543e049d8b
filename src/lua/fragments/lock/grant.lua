-- Makes this owner the holder, for `lease` ms.
local function grant(line, owner, lease)
  takeHold(line.lock, owner, lease)
end
