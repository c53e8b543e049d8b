-- Those of one client ask for these keys of a group. Who may have them has them; who stands in the line is marked as alive, and says
-- again what it wants; others join the line at its end, or are refused. Asked again (a reply was lost), they find out how they
-- stand. Server time counts, not the client's.
-- KEYS[1] group
-- KEYS[2] queue
-- KEYS[3] turn
-- KEYS[4] sets
-- KEYS[5] deadlines
-- ARGV[1] joins
-- ARGV[2] notAfter (ms)
-- ARGV[3] channel
-- ARGV[4] grants
-- ARGV[5] publish
-- ARGV[6] news (count) 1: nobody hears the outsiders any more to whom it was left, or they had their share; 2: the client hears no grants; 3: both
-- ARGV[7] passes (count) 1: it has waited for so long that whoever wants its keys before it may be waiting for it
-- ARGV[8] set the fields of the keys, with blanks between them
-- ARGV[9..] asker its name and its lease
-- returns [digits stamp, integer left, integer open, integer share, integer[asker/2] states] server time in µs; ms that one of the
-- keys stays another's, -2 when that is not known; for how many ms the group is left to those who know of no line at most, and for
-- how many visits of theirs; 1 held, 0 those are to be heard, or refused, 3 behind ours, 4 first behind ours, 2 has no place, and asked too late for one
local group, queue, turn, sets, deadlines = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local joins, notAfter, channel, grants, publish = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4], ARGV[5]
local news, passes, set = tonumber(ARGV[6]), tonumber(ARGV[7]), ARGV[8]
local asker = ARGV
--include whole
--include keyed-lock/key-left
--include keyed-lock/give-key
--include keyed-lock/remove-key
--include wrong-kind
--include keyed-lock/group-like
--include extend-expiry
--include line/remove-waiter
--include line/extend-line
--include line/places-at
--include line/remove-clients
--include outsiders/is-outsider
--include keyed-lock/set-of
--include keyed-lock/fields-of
--include keyed-lock/mode-of
--include keyed-lock/ends-of
--include keyed-lock/is-holder
--include keyed-lock/grant
--include keyed-lock/grant-channel
--include line/is-heard
--include keyed-lock/enters-or-blocks
--include line/publish-grant
--include keyed-lock/first-of
--include line/grant-trial
--include line/mark-silent
--include line/sweep-lapsed-clients
--include line/walk-line
--include keyed-lock/confirm
--include line/mark-alive
--include or-undo
--include line/place-all
--include outsiders/turn-left
--include outsiders/end-turn
--include line/ask-all
--include keyed-lock/wake-first

local ttl = redis.call('PTTL', group)
if ttl ~= -2 and not groupLike(group, ttl) then return wrongKind(group) end
local time, owner = redis.call('TIME'), asker[9]
local line = {
  lock = group, queue = queue, deadlines = deadlines, turn = turn, sets = sets, companion = true, grants = grants, publish = publish,
  channel = channel, client = string.sub(owner, 1, 36), stamp = time[1] .. string.format('%06d', time[2]),
  now = time[1] * 1000 + math.floor(time[2] / 1000), allowance = ALLOWANCE, notAfter = notAfter,
  asker = owner, wants = { [owner] = set }, fields = {}, claimed = {}, over = {}, work = FIELDS_LOOKED_AT, firstOf = firstOf,
}
line.askerChannel = grantChannel(line, owner)
local stood = redis.call('ZSCORE', deadlines, owner)
-- Whoever hears those who know of no line asks for all; others only for what they want.
if passes == 1 and stood and turnLeft(line) == 0 and entersOrBlocks(owner, line) == 'read' then grant(line, owner, tonumber(asker[10])) end
line.claimed, line.work, line.looked = {}, FIELDS_LOOKED_AT, nil
if firstOf(line) ~= owner then
  line.loose = {}
  for _, field in ipairs(fieldsOf(line, owner)) do line.loose[field] = true end
end
local states, open, share = askAll(line, asker, 9, joins == '1', false, false, news)
if redis.call('ZSCORE', deadlines, owner) then
  orUndo(function() removeWaiter(line, owner) end, redis.call, 'HSET', sets, owner, set)
  extendLine(line)
end
if line.theirs then
  -- Only where it matters soon: the key is there.
  if redis.pcall('HLEN', turn) ~= 0 then redis.pcall('HSET', turn, 'came', line.now) end
  wakeFirst(line, line.entered or not stood)
end
return { line.stamp, line.left or -2, open, share, states }
