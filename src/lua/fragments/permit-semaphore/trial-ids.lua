-- The ids of the permits that an owner was granted, as long as it has not confirmed them: 14 bytes that are its own, and a number.
local function trialIds(owner, count)
  local ids, whose = {}, memberOf(string.sub(redis.sha1hex(owner), 1, 28))
  for i = 1, count do ids[i] = whose .. string.char(math.floor(i / 256), i % 256) end
  return ids
end
