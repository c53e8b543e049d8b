-- Ends a read or a write, whatever its count, or takes who waits out of the line; who is next enters. A write whose owner
-- reads, too, goes on as that read. Readers that died do not count.
-- KEYS[1] lock
-- KEYS[2] queue
-- KEYS[3] deadlines
-- KEYS[4] channel
-- ARGV[1] owner
-- ARGV[2] companion
-- ARGV[3] grants
-- ARGV[4] publish
-- returns integer 1 ended, 0 only waited, -1 neither
local lock, queue, deadlines, channel = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local owner, companion, grants, publish = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
--include is-in
--include take-out
--include keep-line
--include drop-client
--include let-in
--include serve-line
--include reads-left

local time = redis.call('TIME')
local line = {
  lock = lock, queue = queue, deadlines = deadlines, companion = companion, grants = grants, publish = publish,
  client = string.sub(owner, 1, 36), stamp = time[1] .. string.format('%06d', time[2]),
  now = time[1] * 1000 + math.floor(time[2] / 1000),
}
local writes = string.sub(owner, -6) == ':write'
local waited, count = takeOut(line, owner), redis.call('HGET', lock, owner)
local message, level = false, 1
while not writes and not count and redis.call('DEL', companion .. ':' .. owner .. ':rwlock_timeout:' .. level) == 1 do
  level = level + 1
end
if count then
  redis.call('HDEL', lock, owner)
  for own = 1, writes and 0 or tonumber(count) do
    redis.call('DEL', companion .. ':' .. owner .. ':rwlock_timeout:' .. own)
  end
  -- Under a write of its own a read is nothing to wait for: that has no key but the lock to last by.
  if writes or redis.call('HGET', lock, 'mode') == 'read' then
    local left = redis.call('PTTL', lock)
    local longest = readsLeft(redis.call('HGETALL', lock), companion, left)
    if longest == 0 then
      redis.call('DEL', lock)
    else
      redis.call('HSET', lock, 'mode', 'read')
      redis.call('PEXPIRE', lock, longest)
    end
    message = writes and '1' or longest == 0 and '0'
  end
end
if message or waited then
  serveLine(line, {})
end
if message then
  -- Redisson's, and ours that queue by no line. Ended is ended, also where telling it is refused.
  redis.pcall(publish, channel, message)
end
return count and 1 or waited and 0 or -1
