-- A part of the line, in its order: whose each place is, how many permits it wants, and when it asks next, which is nil where
-- that is not known, or cannot be so. Two numbers are short.
local function placesIn(line, from, till)
  local owners, places = redis.call('ZRANGE', line.order, from, till), {}
  local texts = #owners > 0 and redis.call('HMGET', line.places, unpack(owners)) or {}
  for i, owner in ipairs(owners) do
    local wants, asks = string.match(#(texts[i] or '') < 40 and texts[i] or '', '^(%d+) (%d+)$')
    wants, asks = whole(wants), whole(asks)
    local known = wants and asks and math.abs(asks - line.now) < RATE_ALLOWANCE
    places[i] = { owner = owner, wants = wants or 0, asks = known and asks or nil }
  end
  return places
end
