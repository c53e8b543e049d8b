-- No call of this process waits any more: the process leaves the line, and what it had been granted there goes to the next.
-- KEYS permits, queue, deadlines, amounts, turn
-- ARGV owner, own (count), channel, grants, publish
-- returns integer permits that it had been granted

local line = lineOf({ permits, queue, deadlines, amounts, turn }, { channel, grants, publish }, owner, own)
local text = redis.pcall('GETRANGE', permits, 0, 31)
line.left = type(text) == 'string' and whole(text) or 0
local back = leaveLine(line, owner)
if back > 0 then
  handOverPermits(line, line.left, false)
elseif turnLeft(line) == 0 then
  -- A place behind it may want fewer.
  noticeOutsiders(line)
  grantPermits(line, {})
end
return back
