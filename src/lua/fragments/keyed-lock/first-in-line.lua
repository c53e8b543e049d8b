-- The owner in the line that listens to outsiders: the first that is not on trial. What is longer than a wire name is not looked up: another
-- program may have written a megabyte.
local function firstInLine(line)
  local some = placesAt(line.queue, 0, 64)
  for _, owner in ipairs(some) do
    if #owner < LONGEST_NAME and tonumber(redis.call('ZSCORE', line.deadlines, owner) or GRANTED) % 1 ~= GRANTED then return owner end
  end
  return some[1]
end
