-- Calls of one process ask for permits, in their order: as many have theirs as there are permits for that nobody ahead in the line wants.
-- If there are none for the first call, the process stands in the line for as many as it waits for. If it stands there already, it is
-- marked as alive, and what it was granted meanwhile is its own: the ids of its calls replace those of its trial. A note says that the
-- calls were given up meanwhile.
-- KEYS permits, note, queue, deadlines, amounts, turn, timeouts
-- ARGV owner, joins (count), news (count), own (count), channel, grants, publish, calls[8..] (any)
--   joins: for how many permits it stands in the line if it has to wait; 0 it does not join
--   news: 1 the outsiders that permits were left to have had their share, or are not heard any more
-- returns [integer calls, integer first, integer open, integer share, integer left, integer all] how many of the calls have theirs, -1 if
-- no permits are set; 1 if it is the first in the line, 2 if outsiders were seen, too; for how many ms at most permits are left to them,
-- and for how many releases; for the first, ms until a permit expires and comes back, -1 if none will; how many permits there are, those
-- that are acquired included. Each of the calls: a lease in ms, 0 for no end; how many permits; that many ids

if redis.call('EXISTS', note) == 1 then
  return { 0, 0, 0, 0, -1, 0 }
end
local line = lineOf({ permits, queue, deadlines, amounts, turn }, { channel, grants, publish }, owner, own)
local fit = { served = 0, place = 8, taken = 0, ids = {}, leases = {} }
local over, reaped = reclaimExpired(permits, timeouts, line.now, #calls)
local stored = textOf(permits)
local free = whole(stored or '0')
if not free then
  return redis.error_reply('WRONGKIND a text that is no count')
end
line.timeouts, line.over, line.most, line.visits, line.asker = timeouts, over, MOST_GRANTED, 1, owner
line.lapsed, line.left, line.added = reaped > 0, stored and free + over or 0, reaped
noticeOutsiders(line)
local paid = endTrial(line, owner)
line.paid = stored and paid or 0
-- If it was granted permits, the call that waits now wants another number, and comes first.
local push = line.paid > 0 and 'LPUSH' or 'RPUSH'
fitCalls(timeouts, calls, fit, line.paid)
if line.paid > fit.taken then
  line.left = redis.call('INCRBY', permits, line.paid - fit.taken) + over
end
line.paid = fit.taken
local function giveBack()
  if line.paid > 0 then redis.call('INCRBY', permits, line.paid) end
  line.paid = 0
  if fit.served == 0 then leaveLine(line, owner) end
end
local mark, open = joinLine(line, owner, fit.served == 0 and joins or 0, push, own, news, giveBack)
local head = redis.call('LINDEX', queue, 0)
fitCalls(timeouts, calls, fit, line.paid - fit.taken)
if open == 0 and not head then fitCalls(timeouts, calls, fit, line.left) end
if fit.taken ~= line.paid then
  orUndo(giveBack, redis.call, 'DECRBY', permits, fit.taken - line.paid)
  line.left = line.left - fit.taken + line.paid
end
addIds(permits, timeouts, fit.ids, fit.leases, line.now)
if reaped > 0 then publishPermits(channel, publish, line.left) end
local share = markListening(line, owner, head, own, mark, open)
local soon = redis.call('ZRANGE', timeouts, 0, 0, 'WITHSCORES')[2]
soon = soon and soon ~= NEVER and math.min(math.max(1, tonumber(soon) - line.now), 2147483647) or -1
-- A permit expires before the new head's next poll, so the head must know at once that it is first.
if fit.served > 0 and head and head ~= owner and soon > 0 and soon < 1100 then redis.pcall(publish, grantChannel(line, head), '0') end
local first = head == owner and (line.came and 2 or 1) or 0
return { stored and fit.served or -1, first, open, share, first > 0 and soon or -1, line.left - line.over + redis.call('ZCARD', timeouts) }
