-- Takes the lock when it is free and nobody waits, else joins the line at its end. Asked again (a reply was lost), it finds
-- out how it stands. Server time counts, not the client's.
-- KEYS[1] lock
-- KEYS[2] queue
-- KEYS[3] deadlines
-- ARGV[1] owner
-- ARGV[2] lease (ms)
-- ARGV[3] allowance (ms)
-- ARGV[4] notAfter (ms)
-- ARGV[5] channel
-- ARGV[6] grants
-- ARGV[7] publish
-- returns [integer state, string stamp, integer left, integer ours] 1 held, 0 waits, 2 asked too late; server time in µs; ms
-- that the lock stays another's, -1 without expiry, -2 when it is free; 1 when whoever is ahead can grant directly
local lock, queue, deadlines = KEYS[1], KEYS[2], KEYS[3]
local owner, lease, allowance = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local notAfter, channel, grants, publish = tonumber(ARGV[4]), ARGV[5], ARGV[6], ARGV[7]
--include is-ours
--include take-out
--include keep-line
--include drop-client
--include drop-stale
--include bound
--include grant-next

local time = redis.call('TIME')
local line = {
  lock = lock, queue = queue, deadlines = deadlines, channel = channel, grants = grants, publish = publish,
  lease = lease, allowance = allowance, stamp = time[1] .. string.format('%06d', time[2]),
  now = time[1] * 1000 + math.floor(time[2] / 1000),
}
if redis.call('HEXISTS', lock, owner) == 1 then
  takeOut(line, owner)
  redis.call('PEXPIRE', lock, lease)
  return { 1, line.stamp, lease, 1 }
end
dropStale(line, string.sub(owner, 1, 36))
if line.now > notAfter then
  return { 2, line.stamp, -2, 1 }
end
local left = redis.call('PTTL', lock)
local length = redis.call('LLEN', queue)
if left == -2 and length == 0 then
  redis.call('HSET', lock, owner, 1)
  redis.call('PEXPIRE', lock, lease)
  return { 1, line.stamp, lease, 1 }
end
local ahead = redis.call('LINDEX', queue, -1) or redis.call('HKEYS', lock)[1]
if not redis.call('ZSCORE', deadlines, owner) then
  local tail = tonumber(redis.call('ZSCORE', deadlines, ahead) or 0)
  local deadline = math.max(line.now + math.max(left, 0) + allowance * (length + 1), math.floor(tail) + allowance)
  redis.call('RPUSH', queue, owner)
  redis.call('ZADD', deadlines, deadline, owner)
end
keepLine(line)
if left == -2 and grantNext(line, { [owner] = lease }) then
  return { 1, line.stamp, lease, 1 }
end
return { 0, line.stamp, redis.call('PTTL', lock), isOurs(ahead) and 1 or 0 }
