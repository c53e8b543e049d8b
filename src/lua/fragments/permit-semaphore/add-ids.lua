-- Notes ids whose permits are out of the count, each with its lease from now on, 0 for ever; or else on trial, for 3 s. What is refused
-- leaves nothing done: the permits go back.
local function addIds(permits, timeouts, ids, leases, now)
  local function giveBack()
    for _, id in ipairs(ids) do redis.call('ZREM', timeouts, id) end
    redis.call('INCRBY', permits, #ids)
  end
  for i, id in ipairs(ids) do
    local ends = leases[i] == '0' and NEVER or now + (leases[i] or TRIAL)
    orUndo(giveBack, redis.call, 'ZADD', timeouts, ends, id)
  end
  local lasts = #ids > 0 and leftOf(permits) or -1
  if lasts > 0 then orUndo(giveBack, redis.call, 'PEXPIRE', timeouts, lasts) end
end
