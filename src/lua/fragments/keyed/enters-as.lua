-- 'read': its keys are free, and nobody before it wants one of them, so it is in beside others. 'wait': they are not, and while its
-- client hears of it those behind it may not have them either. 'write': nobody from here on needs to be looked at, since none of
-- the `loose` keys is left, or so much has been looked at that those behind have to wait. Notes whether one who knows of no line has
-- a key that somebody here wants, and for how long who asks waits for one at least.
local function entersAs(owner, line)
  local asks = line.asker == owner
  local set = setOf(line, owner, FIELD_AND_BLANK * line.work)
  if not asks and (line.work <= 0 or set == nil or line.loose and not next(line.loose)) then
    -- The first in the line looks for itself.
    if set == nil and not line.looked then
      redis.pcall(line.publish, grantChannel(line, owner), '0')
    end
    line.work = set == nil and 0 or line.work
    return 'write'
  end
  local fields, free = fieldsOf(line, owner), true
  line.work, line.looked = line.work - math.max(#fields, #(set or '') / FIELD_AND_BLANK, 8), true
  for _, field in ipairs(fields) do
    free = free and (line.claimed[field] or owner) == owner
    local holder = free and redis.call('HGET', line.lock, field)
    if holder and holder ~= owner then
      local left = keyLeft(line.lock, field, holder, line.now)
      line.over[field], free = left == 0 and holder or nil, left == 0
      line.theirs = line.theirs or not free and isOutsider(holder)
      line.left = asks and not free and left or line.left
    end
  end
  local channel = not free and grantChannel(line, owner)
  if channel and (asks or isHeard(line, channel)) then
    for _, field in ipairs(fields) do
      line.claimed[field] = line.claimed[field] or owner
      if line.loose then line.loose[field] = nil end
    end
  end
  return free and fields[1] and 'read' or 'wait'
end
