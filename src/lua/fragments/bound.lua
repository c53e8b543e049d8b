-- Whoever is `ahead` goes, and the lock is taken for `lease`: those of Redisson's right behind, who begin in `waiting` at
-- `first`, have their own allowances after that at most, and ours at least. Their deadlines were counted each from the one
-- before, and so hold all that a line which never empties has added up; ours are never made shorter. With nobody `ahead` the
-- lock is taken so long already: so then for the whole line, ours too, and nobody is due later than before. When the last is.
local function bound(line, ahead, waiting, first, lease)
  local latest, least = line.now + lease, line.now + lease
  local before = tonumber(ahead and redis.call('ZSCORE', line.deadlines, ahead) or latest)
  for i = first, #waiting do
    local deadline, ours = tonumber(redis.call('ZSCORE', line.deadlines, waiting[i]) or nil), isOurs(waiting[i])
    if not deadline or ahead and ours then
      return i > first and keepOrder(line, waiting, i, least)
    end
    local own = not ours and before % 1 == 0 and math.max(deadline - before, line.allowance) or line.allowance
    latest, least, before = latest + math.min(own, ahead and 3600000 or own), least + line.allowance, deadline
    -- A fraction is a mark, and stays.
    deadline = math.max(ahead and least or 0, math.min(latest + deadline % 1, deadline))
    redis.call('ZADD', line.deadlines, deadline, waiting[i])
  end
  return math.min(latest, before)
end
