-- Takes an owner that was let in on trial, or that asks again, out of the line, and sets its full lease; a longer one is not shortened.
-- Returns for how many ms at least it holds the lock, 0 if it does not.
local function confirm(line, owner, lease)
  if not isHolder(line, owner) then
    return 0
  end
  local count, left = redis.call('HGET', line.lock, owner), redis.call('PTTL', line.lock)
  local onTrial = removeWaiter(line, owner) and count == '1'
  -- A write has none of these keys.
  for level = 1, levelOf(count) do
    local key = line.companion .. ':' .. owner .. ':rwlock_timeout:' .. level
    local left = redis.call('PTTL', key)
    -- Another program may have written the counts of all owners that ask, and the keys, too: one script looks at no
    -- more keys than one owner may have.
    line.missing, line.looks = (line.missing or 0) + (left == -2 and 1 or 0), (line.looks or 0) + 1
    if line.missing > LEVELS_TRUSTED or line.looks > 9999 then break end
    if onTrial or left < lease then
      redis.call('PEXPIRE', key, lease)
    end
  end
  -- Two fields: the mode, and this owner.
  if onTrial and redis.call('HLEN', line.lock) == 2 or left >= 0 and left < lease then
    redis.call('PEXPIRE', line.lock, lease)
  end
  return lease
end
