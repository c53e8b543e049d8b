-- Ends a read or a write, whatever its count, or takes a waiter out of the line. The next in the line enters, or those that wait for a
-- message are woken up. Owners that stood right behind a writer and have had their turn in its process meanwhile leave with it (`served`).
-- KEYS lock, queue, deadlines, turn
-- ARGV companion, channel, grants, publish, counts (count), owner, served[7..]
-- returns integer 1 ended, 0 only waited, -1 neither

-- Ends what an owner reads or writes, whatever its count. If the owner of a write reads, too, the lock goes on as that read; dead readers
-- do not count. Returns how often the owner held it, or false; and the message for all others, or false.
local function giveUp(line, owner)
  local writes = string.sub(owner, -6) == ':write'
  local count, left = redis.call('HGET', line.lock, owner), leftOf(line.lock)
  local work = { looks = READS_LOOKED_AT }
  local own = writes and left or longestRead({ owner, count or '' }, line.companion, left, work)
  -- If the lock is gone, the keys of a read may still be there, whatever their number.
  if not writes then
    removeLevels(line.companion .. ':' .. owner .. ':rwlock_timeout', levelOf(count))
  end
  if not count then
    return false, false
  end
  redis.call('HDEL', line.lock, owner)
  -- Nobody waits for the end of a read under its owner's write; and the write lasts as long as the lock, because it has no other key.
  if not writes and redis.call('HGET', line.lock, 'mode') ~= 'read' then
    return count, false
  end
  local longest = leftForOtherReads(line.lock, line.companion, left, own, writes and math.huge or 64, work)
  if longest > 0 then
    if writes then
      redis.call('HSET', line.lock, 'mode', 'read')
    end
    if longest ~= left then
      redis.call('PEXPIRE', line.lock, longest)
    end
    return count, writes and '1'
  end
  redis.call('UNLINK', line.lock)
  return count, writes and '1' or '0'
end

local line = { lock = lock, queue = queue, deadlines = deadlines, turn = turn, companion = companion, channel = channel }
local lined, done, waited = redis.call('EXISTS', queue, turn) > 0 or served[7], true, false
if lined then
  -- The read or write ends even if something else is stored at the line.
  done, waited = pcall(removeWaiter, line, owner)
end
local count, message = giveUp(line, owner)
if not done then
  -- If nothing has ended, fails as the server does.
  waited = not count and removeWaiter(line, owner)
end
if count and not message and not waited and not served[7] and redis.call('EXISTS', turn) == 0 then
  -- Others go on reading, and the next in the line waits for them.
  return 1
elseif not lined then
  -- The read or write has ended even if the server refuses the message (an ACL without the channel): waiters find out by asking.
  local told = message and redis.pcall(publish, channel, message)
  if type(told) ~= 'number' or told <= counts % 2 then
    return count and 1 or -1
  end
end
--functions

local time = redis.call('TIME')
line.grants, line.publish, line.client = grants, publish, string.sub(owner, 1, 36)
line.stamp, line.now = time[1] .. string.format('%06d', time[2]), time[1] * 1000 + math.floor(time[2] / 1000)
readCounts(line, counts)
pcall(function()
  -- If an owner on trial leaves, all behind it that could enter have done so.
  local room, near = waited and not count, true
  for i = 7, #served do
    -- A release by force may have let in an owner that had its turn already.
    near = near and redis.call('LINDEX', queue, 0) == served[i]
    local stood, _, said = removeWaiter(line, served[i], near), giveUp(line, served[i])
    room, message = room or stood, message or said
  end
  handOver(line, message, room)
  if count and not message then
    -- Others go on reading: if one of them is an outsider, the first in the line must listen for its end.
    local head = hasOutsider(line) and redis.call('LINDEX', queue, 0)
    if head then
      redis.pcall(publish, grantChannel(line, head), '0')
    end
    if redis.call('EXISTS', turn) == 1 then
      redis.pcall('HINCRBY', turn, 'visits', line.visits)
    end
  end
end)
-- Also for outsiders that may read beside our clients that were let in.
if lined and message and redis.call('HGET', lock, 'mode') ~= 'write' then
  redis.pcall(publish, channel, message)
end
return count and 1 or waited and 0 or -1
