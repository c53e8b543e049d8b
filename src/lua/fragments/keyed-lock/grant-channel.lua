-- The channel on which an owner's client hears of grants of its set. Its name is made from the set itself, so nobody listens there if a
-- stranger has written another set for the place.
local function grantChannel(line, owner)
  local set = wantsOf(line, owner, 230000) or ''
  return line.grants .. ':' .. string.sub(owner, 1, 36) .. ':' .. string.sub(redis.sha1hex(set), 1, 16)
end
