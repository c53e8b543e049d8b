-- Stores ids whose permits are out of the count, each with its lease from now on, 0 for no end; ids without a lease are on trial, for 3 s.
-- If the server refuses a step, all are undone: the permits go back. Returns how many ids were there already: a trial that lapsed, and that
-- no script has reclaimed yet, left them, and their permits go back to the count.
local function addIds(permits, timeouts, ids, leases, now)
  local added = 0
  local function giveBack()
    local gone = 0
    for _, id in ipairs(ids) do gone = gone + redis.call('ZREM', timeouts, id) end
    redis.call('INCRBY', permits, #ids + gone - added)
  end
  local function add(id, ends)
    added = added + redis.call('ZADD', timeouts, ends, id)
  end
  for i, id in ipairs(ids) do
    orUndo(giveBack, add, id, leases[i] == '0' and NEVER or now + (leases[i] or TRIAL))
  end
  if added < #ids then redis.call('INCRBY', permits, #ids - added) end
  local lasts = #ids > 0 and leftOf(permits) or -1
  if lasts > 0 then orUndo(giveBack, redis.call, 'PEXPIRE', timeouts, lasts) end
  return #ids - added
end
