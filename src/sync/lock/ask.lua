-- Those of one client ask for the lock. Who may have it has it; who stands in the line is marked as alive; others join it at its
-- end, or are refused. Asked again (a reply was lost), they find out how they stand. Server time counts, not the client's. Where
-- the lock has a counter, the first of those who ask has a token when it has the lock, above all before it.
-- KEYS[1] lock
-- KEYS[2] queue
-- KEYS[3] deadlines
-- KEYS[4] turn
-- KEYS[5..] counter
-- ARGV[1] joins
-- ARGV[2] notAfter (ms)
-- ARGV[3] channel
-- ARGV[4] grants
-- ARGV[5] publish
-- ARGV[6] news (count) 1: nobody hears the outsiders any more to whom it was left, or they had their share; 2: the client hears no grants; 3: both
-- ARGV[7] known the newest token that the caller has seen
-- ARGV[8..] owners and their leases in turn
-- returns [digits stamp, integer left, integer open, integer share, digits token | nil, integer[owners/2] states] server time in µs; ms
-- that the lock stays another's, -1 without expiry, -2 when it is free; for how many ms it is left to those who know of no line at
-- most, and for how many visits of theirs; the token; of each owner: 1 held, 0 first in the line, behind one that cannot grant, or
-- refused, 3 behind ours, 4 first behind
-- ours, 2 has no place, and asked too late for one
local lock, queue, deadlines, turn = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local counter = KEYS
local joins, notAfter, channel, grants, publish = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4], ARGV[5]
local news, known = tonumber(ARGV[6]), ARGV[7]
local owners = ARGV
--include left-of
--include holder-of
--include wrong-kind
--include line/remove-waiter
--include take-hold
--include line/extend-line
--include line/places-at
--include line/remove-clients
--include lock/mode-of
--include lock/is-holder
--include lock/grant
--include lock/enters-or-blocks
--include line/grant-channel
--include line/is-heard
--include line/publish-grant
--include line/grant-trial
--include line/mark-silent
--include line/sweep-lapsed-clients
--include line/walk-line
--include lock/confirm
--include line/mark-alive
--include or-undo
--include line/place-all
--include outsiders/turn-left
--include outsiders/end-turn
--include line/ask-all
--include outsiders/is-outsider
--include raise-counter
--include next-token

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
