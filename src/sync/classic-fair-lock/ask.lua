-- Each owner asks for the lock as a Redisson client before version 4 does: it acquires the lock if that is free and it is its turn,
-- otherwise it stands in the queue. Since 3.11, places count: each stands its allowance behind the one before it, and all move up
-- when one acquires the lock. Before that, everybody stands an allowance behind the head, and asking again renews that. The time is
-- the server's, not the client's.
-- KEYS lock, queue, deadlines
-- ARGV counted, joins, notAfter (ms), asked[4..]
--   asked: owners, their leases and their allowances, in turn
-- returns [digits stamp, integer left, integer[asked/3] states] server time in µs; ms until one of them should ask again, negative if that
-- is not known; for each owner: 1 held, 0 waits, 2 has no place, and does not join, or asked too late

if holderOf(lock) == nil then
  return wrongKind(lock)
end
counted = counted == '1'
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

-- The head of the queue, the place that a newcomer waits for, and until when that counts. Not read for each owner: a name may be megabytes long.
local head, last, theirs
local function lookAgain()
  head, last = redis.call('LINDEX', queue, 0), redis.call('LINDEX', queue, counted and -1 or 0)
  theirs = last and redis.call('ZSCORE', deadlines, last)
end

local function take(owner, lease, allowance, holds)
  if not holds then
    if redis.call('EXISTS', lock) == 1 or head and head ~= owner then
      return false
    end
    redis.call('LPOP', queue)
    redis.call('ZREM', deadlines, owner)
    local waiting = counted and membersAt(deadlines, 0, 2000) or {}
    for i = 1, #waiting, 2 do waiting[i], waiting[i + 1] = waiting[i + 1] - allowance, waiting[i] end
    addScores(deadlines, waiting)
    takeFirstHold(lock, owner, lease)
    lookAgain()
  else
    -- A longer lease, because the owner acquired again, is not shortened.
    redis.call('PEXPIRE', lock, math.max(lease, leftOf(lock)))
  end
  return true
end

-- Puts an owner in the queue. Returns for how many ms it should wait: until the place before it counts as gone.
local function stand(owner, allowance, deadline)
  if deadline and counted then
    return deadline - allowance - now
  end
  local left = theirs and last ~= owner and theirs - now or leftOf(lock)
  local gone = now + left + allowance
  if redis.call('ZADD', deadlines, gone, owner) == 1 then
    orUndo(function()
      redis.call('ZREM', deadlines, owner)
    end, redis.call, 'RPUSH', queue, owner)
    head = head or owner
  end
  if counted or head == owner then last, theirs = owner, gone end
  return left
end

removeOverdue(queue, deadlines, now)
lookAgain()
local soonest, states = nil, {}
for i = 4, #asked, 3 do
  local owner, allowance, state = asked[i], tonumber(asked[i + 2]), 2
  -- A holder asks again because a reply was lost.
  local holds = redis.call('HEXISTS', lock, owner) == 1
  local deadline = redis.call('ZSCORE', deadlines, owner)
  if holds or deadline or now <= notAfter then
    if take(owner, tonumber(asked[i + 1]), allowance, holds) then
      state = 1
    elseif deadline or joins == '1' then
      local left = stand(owner, allowance, deadline)
      soonest = math.min(soonest or left, left)
      state = 0
    end
  end
  states[#states + 1] = state
end
return { time[1] .. string.format('%06d', time[2]), math.max(-1, math.min(soonest or leftOf(lock), MAX_SAFE_INTEGER)), states }
