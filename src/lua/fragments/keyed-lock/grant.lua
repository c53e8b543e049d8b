-- Makes an owner the holder of all keys of its place for `lease` ms, and removes what overdue holders left there. If the server refuses to
-- set the expiry of the group, the keys are free again.
local function grant(line, owner, lease)
  local fields, ttl = fieldsOf(line, owner), redis.call('PTTL', line.lock)
  for _, field in ipairs(fields) do
    giveKey(line.lock, field, owner, line.now + lease, 1)
    -- Only now, because a group that is empty in between loses its expiry.
    if line.over[field] then
      removeKey(line.lock, field, line.over[field])
      line.over[field] = nil
    end
    if line.loose then line.loose[field] = nil end
  end
  line.entered, line.work = true, line.work - 2 * #fields
  if (ttl == -2 or ttl >= 0 and ttl < lease) and type(redis.pcall('PEXPIRE', line.lock, lease)) == 'table' then
    for _, field in ipairs(fields) do removeKey(line.lock, field, owner) end
    redis.call('PEXPIRE', line.lock, lease)
  end
end
