-- Passes a read to another owner: the call that adopts a ticket. If the new owner asks again, it is still one hold.
-- KEYS lock, given, taken
-- ARGV from, to, lease (ms), companion
-- returns integer 1 passed, 0 if neither owner holds it, or it is not a read

local found = redis.call('HMGET', lock, 'mode', from, to)
local reads = found[1] == 'read' or found[1] == 'write'
if not reads or string.sub(from, -6) == ':write' or string.sub(to, -6) == ':write' then
  return 0
end
local count = levelOf(found[2])
if count > 0 and redis.call('EXISTS', given .. ':1') == 1 then
  redis.call('HDEL', lock, from)
  removeLevels(given, count)
elseif levelOf(found[3]) == 0 then
  return 0
end
redis.call('HSET', lock, to, 1)
keepLevel(taken .. ':1', lease)
local left = leftOf(lock)
if left > lease then
  -- The read had a longer lease: the lock must last as long as the remaining reads, and no longer.
  redis.call('PEXPIRE', lock, leftForOtherReads(lock, companion, left, left, math.huge, { looks = READS_LOOKED_AT }))
elseif left >= 0 then
  redis.call('PEXPIRE', lock, lease)
end
return 1
