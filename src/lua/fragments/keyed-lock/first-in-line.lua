-- The owner in the line that listens to outsiders: the first that is not on trial.
local function firstInLine(line)
  local some = placesAt(line.queue, 0, 64)
  for _, owner in ipairs(some) do
    if tonumber(redis.call('ZSCORE', line.deadlines, owner) or GRANTED) % 1 ~= GRANTED then return owner end
  end
  return some[1]
end
