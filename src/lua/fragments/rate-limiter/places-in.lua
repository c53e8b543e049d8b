-- A part of the line, in its order: whose each place is, how many permits it wants, and when it asks next; and how many were looked at. One of
-- which that is not known, or cannot be so, is no place, and goes: what another program has written is read once. Whoever asks stays.
local function placesIn(line, from, till, owner)
  local owners, places, unknown = redis.call('ZRANGE', line.order, from, till), {}, {}
  for _, one in ipairs(owners) do
    -- Two numbers are short.
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
  return places, #owners
end
