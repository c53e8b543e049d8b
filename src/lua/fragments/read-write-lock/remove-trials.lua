-- Takes the owners on trial out of the line. They still stand in it, at its head.
local function removeTrials(line)
  local some, gone, stay = placesAt(line.queue, 0, 500), {}, {}
  local held = some[1] and redis.call('HMGET', line.lock, unpack(some))
  for i = #some, 1, -1 do
    local to = held[i] and gone or stay
    to[#to + 1] = some[i]
  end
  if gone[1] then
    redis.call('ZREM', line.deadlines, unpack(gone))
    redis.call('LTRIM', line.queue, #some, -1)
    if stay[1] then redis.call('LPUSH', line.queue, unpack(stay)) end
  end
end
