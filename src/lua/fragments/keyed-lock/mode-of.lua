-- What a newcomer finds: some keys may be free. Whether all keys of a place are free is checked for each place.
local function modeOf()
  return 'read'
end
