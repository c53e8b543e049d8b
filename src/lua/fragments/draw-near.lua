-- What a line of ours and Redisson's that never empties has added up lies ahead of the first of ours who waits, for `bound`
-- puts right those of Redisson's before it. It and all who are due later are due earlier by what it has more than it needs
-- and six allowances, so that all keep their distances; only when that is as much as all `length` who wait have added.
local function drawNear(line, left, length)
  local first, after = redis.call('ZRANGE', line.deadlines, 0, 63, 'WITHSCORES'), line.now + math.max(left, 3000)
  for i = 1, #first, 2 do
    local deadline = tonumber(first[i + 1])
    if isOurs(first[i]) and deadline % 1 == 0 then
      local off = math.floor(deadline - after - 6 * line.allowance)
      local late = off >= length * line.allowance and redis.call('ZRANGEBYSCORE', line.deadlines, deadline, '+inf') or {}
      for _, owner in ipairs(late) do
        redis.call('ZINCRBY', line.deadlines, -off, owner)
      end
      return
    end
    after = math.max(after, deadline)
  end
end
