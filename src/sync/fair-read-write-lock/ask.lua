-- Those of one client ask to read or to write. Who may is in; who stands in the line is marked as alive; others join it at its
-- end, or are refused. Asked again (a reply was lost), it finds out how it stands. Server time counts, not the client's.
-- KEYS[1] lock
-- KEYS[2] queue
-- KEYS[3] deadlines
-- ARGV[1] joins
-- ARGV[2] notAfter (ms)
-- ARGV[3] allowance (ms)
-- ARGV[4] companion
-- ARGV[5] grants
-- ARGV[6] publish
-- ARGV[7..] owners and their leases in turn
-- returns [digits stamp, integer left, integer[owners/2] states] server time in µs; ms that the lock stays somebody's, -1 without
-- expiry, -2 when it is free; of each owner: 1 in, 0 first in the line or refused, 3 behind others there, 2 has no place, and
-- asked too late for one
local lock, queue, deadlines = KEYS[1], KEYS[2], KEYS[3]
local joins, notAfter, allowance = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local companion, grants, publish = ARGV[4], ARGV[5], ARGV[6]
local owners = ARGV
--include is-in
--include take-out
--include keep-line
--include drop-clients
--include let-in
--include count-of
--include settle
--include tell-whose
--include call-in
--include serve-line
--include wrong-kind
--include or-undo

local found = redis.call('HGET', lock, 'mode')
if found ~= 'read' and found ~= 'write' and redis.call('EXISTS', lock) == 1 then
  return wrongKind(lock)
end
local time = redis.call('TIME')
local line = {
  lock = lock, queue = queue, deadlines = deadlines, companion = companion, grants = grants, publish = publish,
  client = string.sub(owners[7], 1, 36), stamp = time[1] .. string.format('%06d', time[2]),
  now = time[1] * 1000 + math.floor(time[2] / 1000), allowance = allowance,
}
-- Where one of the two keys was evicted all who live join anew.
if redis.call('EXISTS', queue) == 0 then
  redis.call('ZCARD', deadlines)
  redis.call('DEL', deadlines)
end
local mine, states, living = {}, {}, false
for i = 7, #owners, 2 do
  local owner, lease = owners[i], tonumber(owners[i + 1])
  local deadline = settle(line, owner, lease) == 0 and redis.call('ZSCORE', deadlines, owner)
  mine[owner] = lease
  if deadline then
    redis.call('ZADD', deadlines, math.max(math.ceil(tonumber(deadline)), line.now + allowance), owner)
    living = true
  end
end
if living then
  keepLine(line)
end
local mode = serveLine(line, mine)
local function leaveAll()
  for owner in pairs(mine) do takeOut(line, owner) end
end
for i = 7, #owners, 2 do
  local owner, state = owners[i], 0
  local writes = string.sub(owner, -6) == ':write'
  local stands = redis.call('ZSCORE', deadlines, owner)
  if isIn(line, owner) then
    state = 1
  elseif not stands and line.now > notAfter then
    state = 2
  elseif not stands and (not mode or mode == 'read' and not writes) then
    letIn(line, owner, mine[owner])
    mode, state = writes and 'write' or 'read', 1
  elseif stands or joins == '1' then
    if not stands then
      redis.call('ZADD', deadlines, line.now + allowance, owner)
      orUndo(leaveAll, redis.call, 'RPUSH', queue, owner)
      orUndo(leaveAll, keepLine, line)
    end
    state = redis.call('LINDEX', queue, 0) == owner and 0 or 3
  end
  states[#states + 1] = state
end
return { line.stamp, redis.call('PTTL', lock), states }
