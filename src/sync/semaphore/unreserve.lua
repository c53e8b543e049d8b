-- Who had permits saved up does not wait any more: others may have them.
-- KEYS[1] permits
-- KEYS[2] channel
-- KEYS[3] reservation
-- ARGV[1] client
-- ARGV[2] publish
-- returns integer 1 when it was this client's, 0 when not
local permits, channel, reservation = KEYS[1], KEYS[2], KEYS[3]
local client, publish = ARGV[1], ARGV[2]
--include tell
--include whole

if redis.call('GET', reservation) ~= client then
  return 0
end
redis.call('DEL', reservation)
tell(channel, publish, whole(redis.call('GET', permits)) or 0)
return 1
