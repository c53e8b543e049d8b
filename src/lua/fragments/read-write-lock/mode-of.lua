-- What a newcomer finds: 'write', nobody may enter; 'read', readers may; false, all may. A key without a mode is not a
-- read-write lock, so nobody may enter.
local function modeOf(line)
  return redis.call('HGET', line.lock, 'mode') or redis.call('EXISTS', line.lock) == 1 and 'write'
end
