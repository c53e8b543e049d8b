-- Each owner of one client acquires the lock if it is free and nobody waits, otherwise it joins the end of the line. If asked again (a
-- reply was lost), returns how they stand. The time is the server's, not the client's.
-- KEYS lock, queue, deadlines
-- ARGV allowance (ms), notAfter (ms), channel, grants, publish, owners[6..]
--   owners: each followed by its lease
-- returns [digits stamp, integer left, integer[owners/2] states] server time in µs; ms that another owner keeps the lock, -1 without
-- expiry, -2 if it is free; for each owner: 1 held, 0 waits behind one that can grant directly, 2 behind another, 3 asked too late

local holder = holderOf(lock)
if holder == nil then
  return wrongKind(lock)
end
local time = redis.call('TIME')
local line = {
  lock = lock, queue = queue, deadlines = deadlines, channel = channel, grants = grants, publish = publish,
  lease = tonumber(owners[7]), allowance = allowance, stamp = time[1] .. string.format('%06d', time[2]),
  now = time[1] * 1000 + math.floor(time[2] / 1000),
}
removeOverdue(line, string.sub(owners[6], 1, 36))
local left = math.max(leftOf(lock), 0)
local length, tail = redis.call('LLEN', queue), redis.call('LINDEX', queue, -1)
local latest = tail and storedDeadline(line, tail) or 0
-- If one of our places joins behind one of Redisson's, it adds an allowance, which the turn of the Redisson client takes off again. Our own
-- turns take nothing off, so allowances add up. They do so ahead of our first waiter, because `limitDeadlines` corrects Redisson's places
-- before it. So that waiter and all that are due later become due earlier, by what it has beyond its need and six allowances. This keeps
-- all their distances. It is done once that is as much as all of them have added.
if holder and tail and not isOurs(tail) and latest > line.now + left + (2 * length + 6) * allowance then
  local first, after = membersAt(deadlines, 0, 64), line.now + math.max(left, TRIAL)
  for i = 1, #first, 2 do
    local deadline = tonumber(first[i + 1])
    local off = isOurs(first[i]) and deadline % 1 == 0 and math.floor(deadline - after - 6 * allowance)
    if off then
      local late = off >= length * allowance and membersAt(deadlines, redis.call('ZCOUNT', deadlines, '-inf', '(' .. first[i + 1]), LINE_REMOVED) or {}
      for place = 1, #late, 2 do late[place], late[place + 1] = late[place + 1] - off, late[place] end
      addScores(deadlines, late)
      break
    end
    after = math.max(after, deadline)
  end
  latest = storedDeadline(line, tail) or 0
end
local mine, place, told, joined, due = {}, {}, {}, {}, {}
local function leaveAll()
  for owner in pairs(mine) do removeWaiter(line, owner) end
end
for i = 6, #owners, 2 do
  local owner, lease, state = owners[i], tonumber(owners[i + 1]), 1
  if owner == holder then
    confirm(line, owner, lease)
  elseif line.now > notAfter then
    state = 3
  elseif not holder and length == 0 then
    takeFirstHold(lock, owner, lease)
    holder, left = owner, lease
  else
    mine[owner], place[owner], state = lease, #told + 1, isOurs(tail or holder) and 0 or 2
    local after = math.ceil(latest) + (state == 2 and allowance or 0)
    local deadline = math.max(line.now + left + allowance * (length + 1), after)
    joined[#joined + 1], due[#due + 1], due[#due + 2] = owner, deadline, owner
    tail, length, latest = owner, length + 1, deadline
  end
  told[#told + 1] = state
end
local added = joined[1] and redis.call('ZADD', deadlines, 'NX', unpack(due))
-- One that stands there already keeps its deadline and its place.
for i = added == #joined and 0 or #joined, 1, -1 do
  if added == 0 or storedDeadline(line, joined[i]) ~= due[2 * i - 1] then table.remove(joined, i) end
end
if joined[1] then orUndo(leaveAll, redis.call, 'RPUSH', queue, unpack(joined)) end
orUndo(leaveAll, extendLine, line, latest)
local granted = not holder and place[grantNext(line, mine)]
if granted then told[granted] = 1 end
return { line.stamp, leftOf(lock), told }
