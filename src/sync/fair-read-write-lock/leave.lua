-- Ends a read or a write, whatever its count, or takes a waiter out of the line; who is next enters. Those who stood right
-- behind a writer and have had their turn in its process meanwhile leave with it.
-- KEYS[1] lock
-- KEYS[2] queue
-- KEYS[3] deadlines
-- KEYS[4] channel
-- ARGV[1] companion
-- ARGV[2] grants
-- ARGV[3] publish
-- ARGV[4] owner
-- ARGV[5..] served
-- returns integer 1 ended, 0 only waited, -1 neither
local lock, queue, deadlines, channel = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local companion, grants, publish, owner = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local served = ARGV
--include readers/is-in
--include take-out
--include keep-line
--include drop-clients
--include readers/let-in
--include tell-whose
--include readers/voice-of
--include readers/enters-as
--include readers/mode-of
--include call-in
--include serve-line
--include count-of
--include drop-levels
--include reads-left
--include outlives

-- Ends what an owner reads or writes, whatever its count, and takes it out of the line. A write whose owner reads, too, goes
-- on as that read; readers that died do not count. Returns how often it had it, or false; whether it stood in the line; and
-- what all others are to be told, or false.
local function giveUp(line, owner)
  local writes = string.sub(owner, -6) == ':write'
  local waited, count = takeOut(line, owner), redis.call('HGET', line.lock, owner)
  local left, work = redis.call('PTTL', line.lock), { looks = 2000 }
  local own = writes and left or readsLeft({ owner, count or '' }, line.companion, left, work)
  -- Of a read whose lock is gone they may be there still, whatever their number.
  if not writes then
    dropLevels(line.companion .. ':' .. owner .. ':rwlock_timeout', countOf(count))
  end
  if not count then
    return false, waited, false
  end
  redis.call('HDEL', line.lock, owner)
  -- Under a write of its own a read is nothing to wait for: that has no key but the lock to last by.
  if not writes and redis.call('HGET', line.lock, 'mode') ~= 'read' then
    return count, waited, false
  end
  local longest = outlives(line.lock, line.companion, left, own, 0, work)
  if longest > 0 then
    redis.call('HSET', line.lock, 'mode', 'read')
    redis.call('PEXPIRE', line.lock, longest)
  else
    redis.call('DEL', line.lock)
  end
  return count, waited, writes and '1' or longest == 0 and '0'
end

local time = redis.call('TIME')
local line = {
  lock = lock, queue = queue, deadlines = deadlines, companion = companion, grants = grants, publish = publish,
  client = string.sub(owner, 1, 36), stamp = time[1] .. string.format('%06d', time[2]),
  now = time[1] * 1000 + math.floor(time[2] / 1000),
}
local count, waited, message = giveUp(line, owner)
-- Where one on trial leaves, all behind it that could enter have.
local room = waited and not count
for i = 5, #served do
  -- Whoever released it by force may have let in one who had had it.
  local _, stood, said = giveUp(line, served[i])
  room, message = room or stood, message or said
end
if room or message then
  serveLine(line, {})
end
if message then
  -- Redisson's, and ours that queue by no line. Ended is ended, also where telling it is refused.
  redis.pcall(publish, channel, message)
end
return count and 1 or waited and 0 or -1
