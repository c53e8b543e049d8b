-- Where an owner's client hears of grants of this set. Made from the set itself: who was written another set hears of nothing.
local function grantChannel(line, owner)
  local set = setOf(line, owner, 230000) or ''
  return line.grants .. ':' .. string.sub(owner, 1, 36) .. ':' .. string.sub(redis.sha1hex(set), 1, 16)
end
