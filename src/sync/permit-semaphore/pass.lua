-- Releases permits by their ids, all or none, and in the same step gives them to calls of the same process that want just as many. No other
-- process is passed over, because the turn of this one goes on. If asked again under the same note, does it only once. A second note says
-- that the calls were given up meanwhile.
-- KEYS permits, note, timeouts, voided
-- ARGV ids, calls[2..] (any)
--   ids: with blanks between them
-- returns integer 1 done; 0: the ids were released before; -1: one of them is unknown, expired or released; -2: they must be released,
-- because there are too few permits, or the calls want another number, or were given up

-- This write needs no memory. After it, a server short of memory accepts the others.
if redis.call('PEXPIRE', note, NOTE_TIME) == 1 then
  return 0
end
local now, gone = serverNow(), {}
for id in string.gmatch(ids, '%S+') do
  local ends = redis.call('ZSCORE', timeouts, memberOf(id))
  if not ends or tonumber(ends) <= now then
    return -1
  end
  gone[#gone + 1] = memberOf(id)
end
local fit = { served = 0, place = 2, taken = 0, ids = {}, leases = {} }
fitCalls(timeouts, calls, fit, #gone)
local free = whole(textOf(permits))
if fit.taken ~= #gone or not free or free < 0 or redis.call('EXISTS', voided) == 1 then
  return -2
end
local function undo()
  for _, id in ipairs(fit.ids) do redis.call('ZREM', timeouts, id) end
end
for i, id in ipairs(fit.ids) do
  orUndo(undo, redis.call, 'ZADD', timeouts, fit.leases[i] == '0' and NEVER or now + fit.leases[i], id)
end
orUndo(undo, redis.call, 'SET', note, 1, 'PX', NOTE_TIME)
for _, id in ipairs(gone) do redis.call('ZREM', timeouts, id) end
return 1
