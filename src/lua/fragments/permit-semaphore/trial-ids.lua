-- The ids of the permits that an owner was granted and has not confirmed yet: 14 bytes of its own, and a number.
local function trialIds(owner, count)
  local ids, whose = {}, memberOf(string.sub(redis.sha1hex(owner), 1, 28))
  for i = 1, count do ids[i] = whose .. string.char(math.floor(i / 256), i % 256) end
  return ids
end
