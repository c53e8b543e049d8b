-- Acquires permits for the calls of one process, in their order, for as many calls as there are permits for, if nobody stands in the line
-- and no permits are left to outsiders. Each permit has an id, so a call that is repeated finds that it was served. A note says that the
-- calls were given up meanwhile.
-- KEYS permits, note, queue, deadlines, turn, timeouts
-- ARGV channel, publish, calls[3..] (any)
-- returns [integer calls, integer all] how many of the calls have theirs, -1 if no permits are set, -2 if it may be another's turn;
-- if not all have, how many permits there are, those that are acquired included. Each of the calls: a lease in ms, 0 for no end;
-- how many permits; that many ids

if redis.call('EXISTS', note, queue, deadlines, turn) > 0 then
  if redis.call('EXISTS', note) == 1 then
    return { 0, 0 }
  elseif redis.call('EXISTS', queue, deadlines) > 0 or redis.pcall('HEXISTS', turn, 'till') ~= 0 then
    return { -2, 0 }
  end
end
local now = serverNow()
local over, reaped = reclaimExpired(permits, timeouts, now, #calls)
local stored = textOf(permits)
if not stored then
  return { -1, 0 }
end
local available = whole(stored)
if not available then
  return redis.error_reply('WRONGKIND a text that is no count')
end
local fit = { served = 0, place = 3, taken = 0, ids = {}, leases = {} }
fitCalls(timeouts, calls, fit, available + over)
if fit.taken > 0 then
  redis.call('DECRBY', permits, fit.taken)
  addIds(permits, timeouts, fit.ids, fit.leases, now)
end
available = available + over - fit.taken
if reaped > 0 then
  publishPermits(channel, publish, available)
end
return { fit.served, available + redis.call('ZCARD', timeouts) - over }
