-- What somebody who comes now finds: some keys may be free. Each place says for itself whether all of its own are.
local function modeOf()
  return 'read'
end
