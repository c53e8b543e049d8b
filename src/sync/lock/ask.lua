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
-- ARGV[6] news 1: of those to whom the lock was left nobody is heard any more, or they have had their share
-- ARGV[7] known the newest token that the caller has seen
-- ARGV[8..] owners and their leases in turn
-- returns [digits stamp, integer left, integer open, integer share, digits token | nil, integer[owners/2] states] server time in µs; ms
-- that the lock stays another's, -1 without expiry, -2 when it is free; for how many ms it is left to those who know of no line at
-- most, and for how many visits of theirs; the token; of each owner: 1 held, 0 first in the line, behind one that cannot grant, or
-- refused, 3 behind others there, 2 has no place, and asked too late for one
local lock, queue, deadlines, turn = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local counter = KEYS
local joins, notAfter, channel, grants, publish = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4], ARGV[5]
local news, known = ARGV[6], ARGV[7]
local owners = ARGV
--include holder-of
--include wrong-kind
--include take-out
--include take-hold
--include keep-line
--include drop-clients
--include one/mode-of
--include one/is-in
--include one/let-in
--include one/enters-as
--include one/voice-of
--include tell-whose
--include call-in
--include serve-line
--include one/settle
--include show-alive
--include or-undo
--include place-all
--include is-open
--include raise-counter
--include count-on

local holder = holderOf(lock)
if holder == nil then
  return wrongKind(lock)
end
local time = redis.call('TIME')
local line = {
  lock = lock, queue = queue, deadlines = deadlines, turn = turn, companion = true, grants = grants, publish = publish,
  channel = channel, client = string.sub(owners[8], 1, 36), stamp = time[1] .. string.format('%06d', time[2]),
  now = time[1] * 1000 + math.floor(time[2] / 1000), allowance = 10000, notAfter = notAfter,
}
-- Whoever stands in the line when it waits has a number that begins with nine digits of a secret. Redisson has a thread's there.
local stranger, open = holder and not string.find(holder, '^%d%d%d%d%d%d%d%d%d%d', 38), isOpen(line)
-- Only where it matters soon: the key is there.
if stranger and redis.pcall('HLEN', turn) ~= 0 then
  redis.pcall('HSET', turn, 'came', line.now)
end
local isNew = holder ~= owners[8] or redis.call('ZSCORE', deadlines, owners[8])
local mine, waits = showAlive(line, owners, 8), open > 0 and not holder and news == '0'
local mode = waits and 'write' or serveLine(line, mine)
-- One of ours who holds it grants it to the first, who need not hear of anything else.
local states = placeAll(line, owners, 8, mine, mode, joins == '1', holder and not stranger and 3 or 0)
if not waits and not holder and redis.call('EXISTS', lock) == 1 and redis.pcall('HDEL', turn, 'till') == 1 then
  redis.pcall('HSET', turn, 'since', line.now, 'visits', 0)
end
local token = states[1] == 1 and counter[5] ~= nil and countOn(lock, owners[8], counter[5], known, isNew)
local share = waits and tonumber(redis.call('HGET', turn, 'share')) or 0
return { line.stamp, redis.call('PTTL', lock), waits and open or 0, share >= 0 and share <= 1000000 and share or 1, token, states }
