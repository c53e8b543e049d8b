-- Who of the line hears those who know of no line.
local function firstOf(line)
  return redis.call('LINDEX', line.queue, 0)
end
