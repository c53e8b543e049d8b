-- Calls of one process ask for permits, in their order: as many have theirs as there are permits for that nobody ahead in the line wants.
-- If there are none for the first call, the process stands in the line for as many as it waits for. If it stands there already, it is
-- marked as alive, and what it was granted meanwhile is its own. If asked again, the note says what was acquired; it also keeps a late copy
-- from acquiring more, or from joining.
-- KEYS permits, note, queue, deadlines, amounts, turn
-- ARGV owner, joins (count), news (count), own (count), channel, grants, publish, wanted[8..] (count)
--   joins: for how many permits it stands in the line if it has to wait; 0 it does not join
--   news: 1 the outsiders that permits were left to have had their share, or are not heard any more
-- returns [integer calls, integer first, integer open, integer share] how many of the calls have theirs, -1 if no permits are set; 1 if it
-- is the first in the line, 2 if outsiders were seen, too; for how many ms at most permits are left to them, and for how many releases

local stored, noted = notedOrAvailable(permits, note)
local calls, taken = fitCalls(wanted, 7, stored or 0)
if stored == nil then
  return redis.error_reply('WRONGKIND a text that is no count')
elseif noted then
  return { calls - 7, 0, 0, 0 }
end
--functions

local line = lineOf({ permits, queue, deadlines, amounts, turn }, { channel, grants, publish }, owner, own)
line.left = stored or 0
noticeOutsiders(line)
local paid, more = endTrial(line, owner), 0
calls, taken = fitCalls(wanted, 7, paid)
-- If it was granted permits, the call that waits now wants another number, and comes first.
local push = paid > 0 and 'LPUSH' or 'RPUSH'
if paid > taken and stored then
  line.left = redis.call('INCRBY', permits, paid - taken)
end
paid = taken
local function giveBack()
  if paid > 0 then redis.call('INCRBY', permits, paid) end
  if calls == 7 then leaveLine(line, owner) end
end
local mark, open = joinLine(line, owner, calls == 7 and joins or 0, push, own, news, giveBack)
local has, first = endTrial(line, owner), redis.call('LINDEX', queue, 0)
if calls == 7 then
  calls, taken = fitCalls(wanted, 7, has)
end
if open == 0 and not first then
  calls, more = fitCalls(wanted, calls, line.left)
end
local share = markListening(line, owner, first, own, mark, open)
local refusal = taken + more + paid + has > 0 and takePermits(permits, note, taken + more, paid + has)
if refusal then
  return refusal
end
return { calls > 7 and calls - 7 or stored and 0 or -1, first == owner and (line.came and 2 or 1) or 0, open, share }
