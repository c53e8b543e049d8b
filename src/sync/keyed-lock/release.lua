-- Frees what its owner has of these keys, however often, or takes who waits out of the line; what is free then goes to those there
-- who want it, or to those who wait for a message. With one key: whatever the line may be.
-- KEYS[1] group
-- KEYS[2..] keys of the line: its queue, turn, what each place wants, deadlines
-- ARGV[1] owner
-- ARGV[2] channel
-- ARGV[3] grants
-- ARGV[4] publish
-- ARGV[5] counted 1: this server knows of all who listen
-- ARGV[6] own (count) 1: the caller may be counted among those who listen
-- ARGV[7] visits (count) how many have had them in this process without a step on the server, the owner included
-- ARGV[8..] fields
-- returns integer 1 freed, 0 only waited, -1 when not all of them were this owner's still
local group, keys = KEYS[1], KEYS
local owner, channel, grants, publish = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local counted, own, visits = ARGV[5], tonumber(ARGV[6]), tonumber(ARGV[7])
local fields = ARGV
--include server-now
--include whole

local now = serverNow()
local freed, all, trouble = 0, true, nil
for i = 8, #fields do
  local at = fields[i] .. ':' .. owner
  -- Where something else stands at the group by now, whoever waits leaves the line all the same.
  local had = redis.pcall('HMGET', group, fields[i], at .. ':expire_time')
  trouble = trouble or had.err and had
  local mine = not had.err and had[1] == owner
  all = all and mine and (whole(had[2]) or 0) > now
  if not had.err then
    redis.call('HDEL', group, at .. ':expire_time', at .. ':lock_count', mine and fields[i] or at)
  end
  freed = freed + (mine and 1 or 0)
end
local lined = keys[2] and redis.call('EXISTS', keys[2]) == 1
-- Freed is freed: where telling it is refused (an ACL without the channel), waiters find out by asking.
local told = not lined and freed > 0 and redis.pcall(publish, channel, '0')
if not lined and (type(told) ~= 'number' or told <= own or not keys[2]) then
  return freed > 0 and all and 1 or trouble or -1
end
--include keyed-lock/key-left
--include keyed-lock/give-key
--include keyed-lock/remove-key
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
--include outsiders/turn-left
--include outsiders/begin-turn
--include outsiders/end-turn
--include line/hand-over
--include keyed-lock/wake-first

local time = redis.call('TIME')
local line = {
  lock = group, queue = keys[2], turn = keys[3], sets = keys[4], deadlines = keys[5], companion = true, grants = grants,
  publish = publish, channel = channel, client = string.sub(owner, 1, 36), stamp = time[1] .. string.format('%06d', time[2]),
  now = time[1] * 1000 + math.floor(time[2] / 1000), visits = visits, own = own, counted = counted == '1', lined = lined,
  wants = { [owner] = table.concat(fields, ' ', 8) }, fields = {}, claimed = {}, over = {}, loose = {}, work = FIELDS_LOOKED_AT, firstOf = firstOf,
}
for i = 8, #fields do line.loose[fields[i]] = true end
local waited, open = false, false
-- Where something else stands at the line, what was freed is free all the same.
local done, failed = pcall(function()
  line.askerChannel = grantChannel(line, owner)
  waited = lined and removeWaiter(line, owner)
  open = handOver(line, freed > 0, waited)
  wakeFirst(line, line.entered or waited)
end)
if freed > 0 and lined and (not done or open or next(line.loose)) then
  redis.pcall(publish, channel, '0')
end
if freed > 0 then
  return all and 1 or -1
end
return not done and failed or waited and 0 or trouble or -1
