-- Tells the first in the line in how many ms to ask, if it would ask later than that; without `permitsFreeIn`, to ask at
-- once. If its client does not listen, it counts as late, and the next place gets the message. Returns the first place, which
-- may be that of the owner that asks.
local function wakeNext(line, permitsFreeIn, owner)
  local head, walk
  for _ = 1, 16 do
    head, walk = headOf(line, owner, walk)
    local due = permitsFreeIn and head and math.min(permitsFreeIn(head.wants), POLL) or 0
    if not head or head.owner == owner or head.asks <= line.now + due + 5 then
      return head
    end
    local heard = redis.pcall(line.publish, line.grants .. ':' .. string.sub(head.owner, 1, 36), string.format('%.0f', due))
    if type(heard) ~= 'number' then
      return head
    end
    local lost = heard == 0 and line.counted
    head.asks = lost and line.now - IS_LATE or line.now + due
    redis.call('HSET', line.places, head.owner, string.format('%.0f %.0f', head.wants, head.asks))
    if not lost then
      return head
    end
  end
end
