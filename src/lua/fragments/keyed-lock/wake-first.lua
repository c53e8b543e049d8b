-- One who knows of no line has what somebody here waits for: the first in the line is to hear when it is through. `anew`: it may not
-- know of that.
local function wakeFirst(line, anew)
  local first = line.theirs and anew and firstOf(line)
  if first and first ~= line.asker then
    redis.pcall(line.publish, grantChannel(line, first), '0')
  end
end
