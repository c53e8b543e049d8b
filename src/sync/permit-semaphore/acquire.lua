-- Takes permits for the calls of one process, in their order: for as many of them as there are permits for, where nobody stands in
-- the line and none are left to others. Each permit has an id, by which a call that is asked for again finds that it has been
-- served; a note says that it was given up meanwhile.
-- KEYS permits, note, queue, deadlines, turn, timeouts
-- ARGV channel, publish, calls[3..] (any)
-- returns [integer calls, integer all] how many of the calls have theirs, -1 when no permits are set, -2 when it may be another's turn; where not
-- all, how many permits there are, those taken included. Each of the calls: a lease in ms, 0 for ever; how many; so many ids

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
