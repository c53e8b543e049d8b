-- The first place in the line whose owner is not more than 300 ms late, or is the one that asks; nil if there is none among
-- 64. A late owner keeps its place for a minute. Also returns where the search stopped: given as `walk`, it goes on behind
-- that, and reads no place twice.
local function headOf(line, owner, walk)
  -- Usually it is one of the first two.
  walk = walk or { parts = { 2, 14, 48 }, some = {}, at = 0, kept = 0 }
  while true do
    for at = walk.at + 1, #walk.some do
      local place = walk.some[at]
      walk.at = at
      if place.owner == owner or place.asks + LATE >= line.now then
        return place, walk
      end
    end
    local count, looked = table.remove(walk.parts, 1), 0
    if not count then
      break
    end
    walk.at, walk.some, looked = 0, placesIn(line, walk.kept, walk.kept + count - 1, owner)
    walk.kept = walk.kept + #walk.some
    if looked < count then
      walk.parts, walk.ends = {}, true
    end
  end
  if walk.kept == 0 and not walk.ends then
    local read = #membersAt(line.order, 0, 1000) / 2
    if read > 0 then redis.call('ZREMRANGEBYRANK', line.order, 0, read - 1) end
  end
  return nil
end
