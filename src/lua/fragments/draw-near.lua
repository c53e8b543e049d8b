-- What a line of ours and Redisson's that never empties has added up lies ahead of the first of ours who waits, for `bound`
-- puts right those of Redisson's before it. It and all who are due later are due earlier by what it has more than it needs
-- and six allowances, so that all keep their distances; only when that is as much as all who wait have added. Returns how much.
local function drawNear(line, left)
  local waiting, after, off = redis.call('ZRANGE', line.deadlines, 0, -1, 'WITHSCORES'), line.now + math.max(left, 3000), 0
  for i = 1, #waiting, 2 do
    local deadline = tonumber(waiting[i + 1])
    if off == 0 and isOurs(waiting[i]) and deadline % 1 == 0 then
      off = math.floor(deadline - after - 6 * line.allowance)
      if off < #waiting / 2 * line.allowance then return 0 end
    end
    after = math.max(after, deadline)
    if off > 0 then redis.call('ZINCRBY', line.deadlines, -off, waiting[i]) end
  end
  return off
end
