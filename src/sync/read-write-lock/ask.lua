-- Owners of one client ask to read or to write. One that may is let in, one that stands in the line is marked as alive, and
-- the others join the end of the line, or are refused. If asked again (a reply was lost), returns how they stand. The time is
-- the server's, not the client's.
-- KEYS lock, queue, deadlines, turn
-- ARGV joins, notAfter (ms), companion, grants, publish, news (count), owners[7..]
--   news: 1 the outsiders that it was left to are not heard any more, or have had their share; 2 the client hears no grants; 3 both
--   owners: each followed by its lease
-- returns [digits stamp, integer left, integer open, integer share, integer[owners/2] states] server time in µs; ms that the lock stays
-- held, -1 without expiry, -2 if it is free; for how many ms at most it is left to outsiders, and for how many of their visits; for each
-- owner: 1 in, 0 first in the line behind one that cannot let it in, or refused, 3 behind our clients, 4 first behind our clients, 2 has no
-- place, and asked too late for one

local held = redis.call('HGET', lock, 'mode')
if held ~= 'read' and held ~= 'write' and redis.call('EXISTS', lock) == 1 then
  return wrongKind(lock)
end
local time = redis.call('TIME')
local line = {
  lock = lock, queue = queue, deadlines = deadlines, turn = turn, companion = companion, grants = grants, publish = publish,
  client = string.sub(owners[7], 1, 36), stamp = time[1] .. string.format('%06d', time[2]),
  now = time[1] * 1000 + math.floor(time[2] / 1000), allowance = ALLOWANCE, notAfter = notAfter,
}
local states, open, share = askAll(line, owners, 7, joins == '1', held, held and hasOutsider(line), news)
return { line.stamp, leftOf(lock), open, share, states }
