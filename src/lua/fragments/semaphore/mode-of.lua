-- What a newcomer finds: whether there are enough permits is checked for each place.
local function modeOf()
  return 'read'
end
