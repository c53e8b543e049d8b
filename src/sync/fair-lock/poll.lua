-- How the waiters of one client stand. One that was granted the lock meanwhile holds it for good. The others are marked as alive, and if
-- the lock is free, it is granted to the first in the line. Never creates a waiter.
-- KEYS lock, queue, deadlines
-- ARGV allowance (ms), channel, grants, publish, owners[5..]
--   owners: each followed by its lease
-- returns [digits stamp, integer left, integer[owners/2] states] server time in µs; ms that another owner keeps the lock, -1 without
-- expiry, -2 if it is free; for each owner: 1 held, 0 waits behind one that can grant directly, 2 behind another, 3 is not there

local time = redis.call('TIME')
local line = {
  lock = lock, queue = queue, deadlines = deadlines, channel = channel, grants = grants, publish = publish,
  lease = tonumber(owners[6]), allowance = allowance, stamp = time[1] .. string.format('%06d', time[2]),
  now = time[1] * 1000 + math.floor(time[2] / 1000),
}
local left = leftOf(lock)
local holder = holderOf(lock)
if holder == nil then
  return wrongKind(lock)
end
local mine, states, ahead = {}, {}, holder
for i = 5, #owners, 2 do
  mine[owners[i]] = tonumber(owners[i + 1])
end
-- A place that asks is due as late as its position needs, and is no longer on trial or skipped. A place behind is never due before those
-- ahead, as in `keepOrder`. A place of Redisson also keeps its distance, because its turn takes that off the others.
local later, raised, before, moved = 0, 0, nil, {}
local some = placesAt(queue, 0, LINE_REMOVED)
for place, owner in ipairs(some) do
  local score = (mine[owner] or before) and storedDeadline(line, owner)
  if mine[owner] or score then
    local known = score or before and before - later or line.now
    local due = math.max(later, isOurs(owner) and 0 or raised, math.ceil((before or known) - known))
    -- A place that asks, or is on trial, may become due later without moving the others: the next one is compared with it.
    if not mine[owner] and known % 1 == 0 then later = due end
    local deadline = known + due
    if mine[owner] then
      deadline = math.max(math.ceil(deadline), line.now + math.max(left, 0) + allowance * place)
      states[owner] = isOurs(ahead or owner) and 0 or 2
    end
    -- If the place ahead has a mark, the distance to it belongs to nobody.
    raised = mine[owner] and score and known % 1 == 0 and deadline - known or 0
    before = (mine[owner] or due > 0) and deadline or nil
    if before then moved[#moved + 1], moved[#moved + 2] = before, owner end
  end
  ahead = owner
end
addScores(deadlines, moved)
-- If the line is too long for one script, those that ask are looked up.
for i = 5, redis.call('LLEN', queue) > #some and #owners or 0, 2 do
  local score = not states[owners[i]] and storedDeadline(line, owners[i])
  if score then
    redis.call('ZADD', deadlines, math.max(math.ceil(score), line.now + math.max(left, 0) + allowance * #some), owners[i])
    states[owners[i]] = 0
  end
end
extendLine(line)
removeOverdue(line, string.sub(owners[5], 1, 36))
if not holder then
  holder = grantNext(line, mine)
elseif mine[holder] then
  confirm(line, holder, mine[holder])
end
local told = {}
for i = 5, #owners, 2 do
  told[#told + 1] = owners[i] == holder and 1 or states[owners[i]] or 3
end
return { line.stamp, leftOf(lock), told }
