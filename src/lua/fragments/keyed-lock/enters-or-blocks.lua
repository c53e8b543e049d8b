-- 'read': all keys of the place are free, and no place before it wants one, so it can hold them beside other holders. 'wait': they are not,
-- and no place behind it may have them either, as long as its client listens. 'write': the walk ends, because none of the freed keys
-- (`loose`) is left, or because enough was looked at (`work`). Notes in `line` whether an outsider has such a key, and for how long the
-- owner that asks must wait at least.
local function entersOrBlocks(owner, line)
  local asks = line.asker == owner
  local set = wantsOf(line, owner, FIELD_AND_BLANK * line.work)
  if not asks and (line.work <= 0 or set == nil or line.loose and not next(line.loose)) then
    -- The set is too large for this step. If it is the first place, its client is woken up, and asks for itself.
    if set == nil and not line.looked then
      redis.pcall(line.publish, grantChannel(line, owner), '0')
    end
    line.work = set == nil and 0 or line.work
    return 'write'
  end
  -- Each field costs one; a place costs eight at least.
  local fields, free = fieldsOf(line, owner), true
  line.work, line.looked = line.work - math.max(#fields, #(set or '') / FIELD_AND_BLANK, 8), true
  -- Free: no place before it wants the key, and its holder is this owner, or overdue (`line.over`).
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
  -- The place waits: from now on, these keys are reserved against those behind it. If its client does not listen, a message makes it ask,
  -- and so show that it is alive. Until then, its keys are not reserved.
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
