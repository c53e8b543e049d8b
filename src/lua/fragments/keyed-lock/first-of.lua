-- The owner in the line that listens to outsiders: the first that is not on trial.
local function firstOf(line)
  local some = {}
  for i = 1, 64 do
    local owner = placeAt(line.queue, some, i)
    if not owner then break end
    if tonumber(redis.call('ZSCORE', line.deadlines, owner) or GRANTED) % 1 ~= GRANTED then return owner end
  end
  return some[1]
end
