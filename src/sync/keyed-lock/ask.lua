-- An owner asks for these keys of a group. If it may have them, it acquires them. If it stands in the line, it is marked as alive, and says
-- again what it wants. Otherwise it joins the end of the line, or is refused. If asked again (a reply was lost), returns how it stands. The
-- time is the server's, not the client's.
-- KEYS group, queue, turn, sets, deadlines
-- ARGV joins, notAfter (ms), channel, grants, publish, news (count), passes (count), set, asker[9..]
--   news: 1 the outsiders that it was left to are not heard any more, or have had their share; 2 the client hears no grants; 3 both
--   passes: 1 it has waited so long that an owner before it that wants its keys may be waiting for it
--   set: the fields of the keys, with blanks between them
--   asker: its name and its lease
-- returns [digits stamp, integer left, integer open, integer share, integer[asker/2] states] server time in µs; ms that another
-- owner keeps one of the keys, -2 if that is not known; for how many ms at most the group is left to outsiders, and for how many
-- of their visits; 1 held, 0 must listen to outsiders, or refused, 3 behind our clients, 4 first behind our clients, 2 has no
-- place, and asked too late for one

local ttl = redis.call('PTTL', group)
if ttl ~= -2 and not groupLike(group, ttl) then return wrongKind(group) end
local time, owner = redis.call('TIME'), asker[9]
local line = {
  lock = group, queue = queue, deadlines = deadlines, turn = turn, sets = sets, companion = true, grants = grants, publish = publish,
  channel = channel, client = string.sub(owner, 1, 36), stamp = time[1] .. string.format('%06d', time[2]),
  now = time[1] * 1000 + math.floor(time[2] / 1000), allowance = ALLOWANCE, notAfter = notAfter,
  asker = owner, wants = { [owner] = set }, fields = {}, claimed = {}, over = {}, work = FIELDS_LOOKED_AT,
}
line.askerChannel = grantChannel(line, owner)
local stood = redis.call('ZSCORE', deadlines, owner)
-- The owner that listens to outsiders asks for all keys; another only for what it wants.
if passes == 1 and stood and turnLeft(line) == 0 and entersOrBlocks(owner, line) == 'read' then grant(line, owner, tonumber(asker[10])) end
line.claimed, line.work, line.looked = {}, FIELDS_LOOKED_AT, nil
line.loose = firstInLine(line) ~= owner and {} or nil
for _, field in ipairs(line.loose and fieldsOf(line, owner) or {}) do line.loose[field] = true end
local states, open, share = askAll(line, asker, 9, joins == '1', false, false, news)
if redis.call('ZSCORE', deadlines, owner) then
  orUndo(function() removeWaiter(line, owner) end, redis.call, 'HSET', sets, owner, set)
  extendLine(line)
end
if line.theirs then
  -- Only if the key exists, that is, if it may matter soon.
  if redis.pcall('HLEN', turn) ~= 0 then redis.pcall('HSET', turn, 'came', line.now) end
  wakeFirst(line, line.entered or not stood)
end
return { line.stamp, line.left or -2, open, share, states }
