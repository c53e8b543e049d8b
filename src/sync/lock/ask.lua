-- Owners of one client ask for the lock. One that may have it acquires it, one that stands in the line is marked as alive, and the others
-- join the end of the line, or are refused. If asked again (a reply was lost), returns how they stand. The time is the server's, not the
-- client's. If the lock has a counter, the first of these owners gets a token with the lock, higher than all before it.
-- KEYS lock, queue, deadlines, turn, counter[5..]
-- ARGV joins, notAfter (ms), channel, grants, publish, news (count), known, owners[8..]
--   news: 1 the outsiders that it was left to are not heard any more, or have had their share; 2 the client hears no grants; 3 both
--   owners: each followed by its lease
-- returns [digits stamp, integer left, integer open, integer share, digits token | nil, integer[owners/2] states] server time in µs; ms
-- that another owner keeps the lock, -1 without expiry, -2 if it is free; for how many ms at most it is left to outsiders, and for how many
-- of their visits; the token; for each owner: 1 held, 0 first in the line, behind one that cannot grant, or refused, 3 behind our clients,
-- 4 first behind our clients, 2 has no place, and asked too late for one

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
if type(token) == 'table' then
  return token
end
return { line.stamp, leftOf(lock), open, share, token, states }
