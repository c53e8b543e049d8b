-- The first in the line is told in how many ms to ask, where it would ask later than that. Without `permitsFreeIn` it is to ask at once.
-- Whose client nobody hears counts as late, and the next one is told. Returns who is first, which may be the one that asks.
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
