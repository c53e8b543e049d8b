-- The first place in the line whose owner is not late by 300 ms, or is the one that asks; nil where there is none. Whoever is late
-- keeps its place for a minute. One of which nothing is known is no place.
local function headOf(line, owner)
  local head, unknown, till = nil, {}, -1
  -- Mostly it is one of the first two.
  for _, count in ipairs({ 2, 14, 48 }) do
    local some = placesIn(line, till + 1, till + count)
    till = till + count
    for _, place in ipairs(some) do
      if place.owner == owner or place.asks and place.asks + LATE >= line.now then
        head = place
        break
      elseif not place.asks then
        unknown[#unknown + 1] = place.owner
      end
    end
    if head or #some < count then
      break
    end
  end
  if #unknown == 64 then
    redis.call('ZREMRANGEBYRANK', line.order, 0, 999)
  elseif #unknown > 0 then
    redis.call('ZREM', line.order, unpack(unknown))
    redis.call('HDEL', line.places, unpack(unknown))
  end
  return head
end
