-- Whether this owner has been granted what it wants, on trial.
local function isHolder(line, owner)
  return grantedTo(line, owner) > 0
end
