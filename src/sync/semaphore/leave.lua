-- Nobody of this process waits any more: it leaves the line, and what it had been granted there goes to the next.
-- KEYS permits, queue, deadlines, amounts, turn
-- ARGV owner, own (count), channel, grants, publish
-- returns integer permits given back

local line = lineOf({ permits, queue, deadlines, amounts, turn }, { channel, grants, publish }, owner, own)
local text = redis.pcall('GETRANGE', permits, 0, 31)
line.left = type(text) == 'string' and whole(text) or 0
local back = leaveLine(line, owner)
if back > 0 then
  handOver(line, line.left, false)
elseif turnLeft(line) == 0 then
  -- Whoever stood behind it may want less.
  noticeOutsiders(line)
  walkForPermits(line, {})
end
return back
