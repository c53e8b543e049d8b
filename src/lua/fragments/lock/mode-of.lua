-- What a newcomer finds: 'write', nobody may enter; false, the lock is free.
local function modeOf(line)
  return redis.call('EXISTS', line.lock) == 1 and 'write'
end
