-- Gives permits back by their ids, all or none, and in the same step to calls of the same process that want just as many: nobody else is
-- passed, since its turn goes on. Asked again under the same note, it is done once; a second note says that the calls were given up
-- meanwhile.
-- KEYS permits, note, timeouts, voided
-- ARGV ids, calls[2..] (any)
--   ids: with blanks between them
-- returns integer 1 done; 0: the ids were given back before; -1: one of them is unknown, expired or given back; -2: they are to be given back, there are too few

-- A write that needs no memory: after it, a server short of memory lets the others pass.
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
