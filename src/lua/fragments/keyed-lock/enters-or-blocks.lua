-- 'read': its keys are free, and nobody before it wants one, so it holds beside others. 'wait': they are not, and nobody behind it may
-- have them either while its client listens. 'write': the walk ends, since none of the keys that came free (`loose`) is left, or enough
-- was looked at (`work`). Notes in `line` whether an outsider has such a key, and for how long who asks waits at least.
local function entersOrBlocks(owner, line)
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
  -- Each field costs one; the least that a place costs is eight.
  local fields, free = fieldsOf(line, owner), true
  line.work, line.looked = line.work - math.max(#fields, #(set or '') / FIELD_AND_BLANK, 8), true
  -- Free: nobody before it wants the key, and whoever has it is this owner, or overdue (`line.over`).
  for _, field in ipairs(fields) do
    free = free and (line.claimed[field] or owner) == owner
    local holder = free and (line.over[field] or redis.call('HGET', line.lock, field))
    if holder and holder ~= owner then
      local left = keyLeft(line.lock, field, holder, line.now)
      line.over[field], free = left == 0 and holder or nil, left == 0
      line.theirs = line.theirs or not free and isOutsider(holder)
      line.left = asks and not free and left or line.left
    end
  end
  -- It waits: from now on these keys are its own before those behind it. If its client does not hear of it, it is told to ask, and shows by that
  -- that it lives; so long its keys are anybody's.
  local channel, deadline = not free and grantChannel(line, owner), tonumber(redis.call('ZSCORE', line.deadlines, owner) or GRANTED)
  if channel and (asks or isHeard(line, channel, deadline)) then
    for _, field in ipairs(fields) do
      line.claimed[field] = line.claimed[field] or owner
      if line.loose then line.loose[field] = nil end
    end
  elseif channel and deadline % 1 ~= GRANTED then
    redis.call('ZADD', line.deadlines, math.min(deadline, line.now + TRIAL_MARKED), owner)
    redis.pcall(line.publish, channel, '0')
  end
  return free and fields[1] and 'read' or 'wait'
end
