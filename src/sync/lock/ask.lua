-- Those of one client ask for the lock. Who may have it has it; who stands in the line is marked as alive; others join it at its
-- end, or are refused. Asked again (a reply was lost), they find out how they stand. Server time counts, not the client's. Where
-- the lock has a counter, the first of those who ask has a token when it has the lock, above all before it.
-- KEYS lock, queue, deadlines, turn, counter[5..]
-- ARGV joins, notAfter (ms), channel, grants, publish, news (count), known, owners[8..]
--   news: 1 nobody hears the outsiders any more to whom it was left, or they had their share; 2 the client hears no grants; 3 both
--   owners: each followed by its lease
-- returns [digits stamp, integer left, integer open, integer share, digits token | nil, integer[owners/2] states] server time in µs; ms
-- that the lock stays another's, -1 without expiry, -2 when it is free; for how many ms it is left to those who know of no line at
-- most, and for how many visits of theirs; the token; of each owner: 1 held, 0 first in the line, behind one that cannot grant, or
-- refused, 3 behind ours, 4 first behind
-- ours, 2 has no place, and asked too late for one

local holder = holderOf(lock)
if holder == nil then
  return wrongKind(lock)
end
local time = redis.call('TIME')
local line = {
  lock = lock, queue = queue, deadlines = deadlines, turn = turn, companion = true, grants = grants, publish = publish,
  channel = channel, client = string.sub(owners[8], 1, 36), stamp = time[1] .. string.format('%06d', time[2]),
  now = time[1] * 1000 + math.floor(time[2] / 1000), allowance = ALLOWANCE, notAfter = notAfter,
}
local isNew = holder ~= owners[8] or redis.call('ZSCORE', deadlines, owners[8])
local states, open, share = askAll(line, owners, 8, joins == '1', holder, holder and isOutsider(holder), news)
local token = states[1] == 1 and counter[5] ~= nil and nextToken(lock, owners[8], counter[5], known, isNew)
return { line.stamp, leftOf(lock), open, share, token, states }
