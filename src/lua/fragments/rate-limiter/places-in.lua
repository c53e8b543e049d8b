-- A part of the line, in its order: the owner of each place, how many permits it wants, and when it asks next; and how many were looked at.
-- If these are unknown or cannot be right, the place is removed: what another program has written is read once, and if it was very long, a
-- script reads no more. The owner that asks stays.
local function placesIn(line, from, till, owner)
  if line.long then
    return {}, 0
  end
  local owners, places, unknown = nil, {}, {}
  owners, line.long = membersAt(line.order, from, till - from + 1)
  for i = 1, #owners, 2 do
    local one = owners[i]
    -- Two numbers are shorter than this.
    local short = #one < LONGEST_NAME and redis.call('HSTRLEN', line.places, one) < 40
    local wants, asks = string.match(short and redis.call('HGET', line.places, one) or '', '^(%d+) (%d+)$')
    wants, asks = whole(wants), whole(asks)
    if wants and asks and math.abs(asks - line.now) < RATE_ALLOWANCE then
      places[#places + 1] = { owner = one, wants = wants, asks = asks }
    elseif one == owner then
      places[#places + 1] = { owner = one, wants = wants or 0 }
    else
      unknown[#unknown + 1] = one
    end
  end
  if #unknown > 0 then
    redis.call('ZREM', line.order, unpack(unknown))
    redis.call('HDEL', line.places, unpack(unknown))
  end
  return places, #owners / 2
end
