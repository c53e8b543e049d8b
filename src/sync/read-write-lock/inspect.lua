-- Who holds the lock, in which mode, how often, for how long, and the waiters in their order. Where there are many, some of
-- them at a time.
-- KEYS[1] lock
-- KEYS[2] queue
-- KEYS[3] deadlines
-- ARGV[1] companion
-- ARGV[2] from where to go on with those who hold it, 0 at first, empty when they are known
-- ARGV[3] first (count) where to go on with those who wait
-- returns [integer ttl, string next, string[pairs] fields and values in turn, integer[] left, string[pairs] waiting owners and deadlines
-- in turn] ttl in ms, -1 without expiry, -2 when free; where to go on, 0 when that is all; for how many ms each field's read
-- goes on, 0 when it died or is none; deadlines in ms since the epoch, by the server's clock
local lock, queue, deadlines = KEYS[1], KEYS[2], KEYS[3]
local companion, from, first = ARGV[1], ARGV[2], tonumber(ARGV[3])
--include left-of
--include read-write-lock/reads-left
--include read-write-lock/is-holder
--include line/places-at
--include line/waiters-at
--include wrong-kind

local ttl, mode = leftOf(lock), redis.call('HGET', lock, 'mode')
if ttl ~= -2 and mode ~= 'read' and mode ~= 'write' then
  return wrongKind(lock)
end
local found = from == '' and { '0', {} } or redis.call('HSCAN', lock, from, 'COUNT', 500)
local fields, left, work = {}, {}, { looks = READS_LOOKED_AT }
for i = 1, #found[2], 2 do
  local owner, count = found[2][i], found[2][i + 1]
  -- What is longer is another program's.
  if #owner < LONGEST_NAME and #count < 20 then
    fields[#fields + 1], fields[#fields + 2] = owner, count
    left[#left + 1] = readsLeft({ owner, count }, companion, math.huge, work)
  end
end
local waiting = waitersAt(queue, deadlines, first, function(owner)
  -- Who was let in and has not confirmed yet holds it.
  return isHolder({ lock = lock, companion = companion }, owner)
end)
return { ttl, found[1], fields, left, waiting }
