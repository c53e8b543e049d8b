-- What somebody who comes now finds: whether there are enough permits is asked for each.
local function modeOf()
  return 'read'
end
