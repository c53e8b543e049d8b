-- Those of one client ask to read or to write. Who may is in; who stands in the line is marked as alive; others join it at its
-- end, or are refused. Asked again (a reply was lost), they find out how they stand. Server time counts, not the client's.
-- KEYS[1] lock
-- KEYS[2] queue
-- KEYS[3] deadlines
-- KEYS[4] turn
-- ARGV[1] joins
-- ARGV[2] notAfter (ms)
-- ARGV[3] companion
-- ARGV[4] grants
-- ARGV[5] publish
-- ARGV[6] news (count) 1: nobody hears the outsiders any more to whom it was left, or they had their share; 2: the client hears no grants; 3: both
-- ARGV[7..] owners and their leases in turn
-- returns [digits stamp, integer left, integer open, integer share, integer[owners/2] states] server time in µs; ms that the lock stays
-- somebody's, -1 without expiry, -2 when it is free; for how many ms it is left to those who know of no line at most, and for how
-- many visits of theirs; of each owner: 1 in, 0 first in the line behind one that cannot let it in, or refused, 3 behind ours, 4 first behind
-- ours, 2 has no place, and asked too late for one
local lock, queue, deadlines, turn = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local joins, notAfter = ARGV[1], tonumber(ARGV[2])
local companion, grants, publish, news = ARGV[3], ARGV[4], ARGV[5], tonumber(ARGV[6])
local owners = ARGV
--include left-of
--include read-write-lock/is-holder
--include line/remove-waiter
--include line/extend-line
--include line/places-at
--include line/remove-clients
--include read-write-lock/keep-level
--include read-write-lock/grant
--include count-of
--include read-write-lock/confirm
--include line/is-heard
--include line/publish-grant
--include read-write-lock/grant-channel
--include read-write-lock/enters-or-blocks
--include read-write-lock/mode-of
--include line/grant-trial
--include line/mark-silent
--include line/sweep-lapsed-clients
--include line/walk-line
--include line/mark-alive
--include or-undo
--include line/place-all
--include wrong-kind
--include outsiders/turn-left
--include outsiders/end-turn
--include line/ask-all
--include outsiders/is-outsider
--include read-write-lock/has-outsider

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
