-- The owner in the line that listens to outsiders: the first that is not on trial, or else the first. What is longer than a wire name is not
-- looked up, and nothing is published to it: another program may have written a megabyte.
local function firstInLine(line)
  local first
  for _, owner in ipairs((placesAt(line.queue, 0, 64))) do
    if #owner < LONGEST_NAME and tonumber(redis.call('ZSCORE', line.deadlines, owner) or GRANTED) % 1 ~= GRANTED then return owner end
    first = first or #owner < LONGEST_NAME and owner
  end
  return first
end
