-- An outsider has a key that a place here waits for: the first in the line must listen for the outsider's
-- release. `anew`: it may not know yet.
local function wakeFirst(line, anew)
  local first = line.theirs and anew and firstInLine(line)
  if first and first ~= line.asker then
    redis.pcall(line.publish, grantChannel(line, first), '0')
  end
end
