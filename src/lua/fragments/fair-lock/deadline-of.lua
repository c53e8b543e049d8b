-- The deadline of a place, false where it has none. What another program made infinite, or gave a name that is none, can be counted
-- with all the same.
local function deadlineOf(line, owner)
  local deadline = #owner < LONGEST_NAME and redis.call('ZSCORE', line.deadlines, owner)
  return deadline and math.max(0, math.min(tonumber(deadline), MAX_SAFE_INTEGER))
end
