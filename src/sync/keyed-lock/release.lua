-- Releases what its owner holds of these keys, however often, or takes a waiter out of the line. What is free then goes to those in the
-- line that want it, or is announced to those that wait for a message. If only the group is given, ignores the line.
-- KEYS group, keys[2..]
-- ARGV owner, channel, grants, publish, counts (count), fields[6..]
--   keys: the line's queue, turn, what each place wants, deadlines
-- returns integer 1 released, 0 only waited, -1 if this owner did not hold all of them any more

local now = serverNow()
local freed, all, trouble = 0, true, nil
for i = 6, #fields do
  local at = fields[i] .. ':' .. owner
  -- A waiter leaves the line even if something else is stored at the group by now.
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
-- The keys are free even if the server refuses the message (an ACL without the channel): waiters find out by asking.
local told = not lined and freed > 0 and redis.pcall(publish, channel, '0')
if not lined and (type(told) ~= 'number' or told <= counts % 2 or not keys[2]) then
  return freed > 0 and all and 1 or trouble or -1
end
--functions

local time = redis.call('TIME')
local line = {
  lock = group, queue = keys[2], turn = keys[3], sets = keys[4], deadlines = keys[5], companion = true, grants = grants,
  publish = publish, channel = channel, client = string.sub(owner, 1, 36), stamp = time[1] .. string.format('%06d', time[2]),
  now = time[1] * 1000 + math.floor(time[2] / 1000), lined = lined,
  wants = { [owner] = table.concat(fields, ' ', 6) }, fields = {}, claimed = {}, over = {}, loose = {}, work = FIELDS_LOOKED_AT,
}
readCounts(line, counts)
for i = 6, #fields do line.loose[fields[i]] = true end
local waited, open = false, false
local function leave()
  line.askerChannel = grantChannel(line, owner)
  waited = lined and removeWaiter(line, owner)
  open = handOver(line, freed > 0, waited)
  wakeFirst(line, line.entered or waited)
end
-- What was released is free even if something else is stored at the line.
local done = pcall(leave)
if freed > 0 and lined and (not done or open or next(line.loose)) then
  redis.pcall(publish, channel, '0')
end
if freed > 0 then
  return all and 1 or -1
end
-- Tries once more: it fails again, with the server's own error, unless the first try has taken the place away.
if not done then
  leave()
end
return waited and 0 or trouble or -1
