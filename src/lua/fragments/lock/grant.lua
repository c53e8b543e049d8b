-- Makes this owner the holder, for `lease` ms.
local function grant(line, owner, lease)
  takeFirstHold(line.lock, owner, lease)
end
