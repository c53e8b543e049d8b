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
--include readers/is-in
--include take-out
--include keep-line
--include drop-clients
--include readers/let-in
--include count-of
--include readers/settle
--include tell-whose
--include readers/voice-of
--include readers/enters-as
--include readers/mode-of
--include call-in
--include serve-line
--include show-alive
--include or-undo
--include place-all
--include wrong-kind

local found = redis.call('HGET', lock, 'mode')
if found ~= 'read' and found ~= 'write' and redis.call('EXISTS', lock) == 1 then
  return wrongKind(lock)
end
local time = redis.call('TIME')
local line = {
  lock = lock, queue = queue, deadlines = deadlines, companion = companion, grants = grants, publish = publish,
  client = string.sub(owners[7], 1, 36), stamp = time[1] .. string.format('%06d', time[2]),
  now = time[1] * 1000 + math.floor(time[2] / 1000), allowance = allowance, notAfter = notAfter,
}
local mine = showAlive(line, owners, 7)
local states = placeAll(line, owners, 7, mine, serveLine(line, mine), joins == '1', 0)
return { line.stamp, redis.call('PTTL', lock), states }
