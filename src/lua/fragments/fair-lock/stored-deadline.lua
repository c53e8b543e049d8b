-- The deadline of a place; false if it has none, or if its name is too long for a wire name. The result is always a number to count with,
-- even if another program made the deadline infinite.
local function storedDeadline(line, owner)
  local deadline = #owner < LONGEST_NAME and redis.call('ZSCORE', line.deadlines, owner)
  return deadline and math.max(0, math.min(tonumber(deadline), MAX_SAFE_INTEGER))
end
