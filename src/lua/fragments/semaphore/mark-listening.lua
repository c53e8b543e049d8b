-- The first in the line listens to outsiders once it has this answer, or after a moment, or else it asks again and again. Its deadline says
-- which, unless it has another mark. Returns for how many releases permits are left to outsiders.
local function markListening(line, owner, head, own, mark, open)
  if head == owner and mark == 0 then
    mark = own == 2 and HEARS_NOTHING or (open > 0 or line.came) and LISTENS or WILL_LISTEN
    redis.pcall('ZADD', line.deadlines, line.now + line.allowance + mark, owner)
  end
  return open > 0 and math.abs(whole(redis.pcall('HMGET', line.turn, 'share')[1]) or 1) or 0
end
