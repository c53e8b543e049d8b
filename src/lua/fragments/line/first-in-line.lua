-- The owner in the line that listens to outsiders.
local function firstInLine(line)
  return redis.call('LINDEX', line.queue, 0)
end
