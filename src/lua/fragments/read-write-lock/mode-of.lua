-- What somebody who comes now finds: 'write', nobody may enter; 'read', readers may; false, all may. What has no mode is no lock
-- of readers and writers.
local function modeOf(line)
  return redis.call('HGET', line.lock, 'mode') or redis.call('EXISTS', line.lock) == 1 and 'write'
end
