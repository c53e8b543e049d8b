-- Takes the lock from all who read, or from who writes and the reads of its own; who is next enters.
-- KEYS[1] lock
-- KEYS[2] queue
-- KEYS[3] deadlines
-- KEYS[4] channel
-- ARGV[1] mode
-- ARGV[2] message
-- ARGV[3] companion
-- ARGV[4] grants
-- ARGV[5] publish
-- returns integer 1 when it was held so, 0 when not
local lock, queue, deadlines, channel = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local mode, message, companion, grants, publish = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
--include count-of
--include end-reads
--include wrong-kind
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

local time = redis.call('TIME')
local line = {
  lock = lock, queue = queue, deadlines = deadlines, companion = companion, grants = grants, publish = publish,
  client = '', stamp = time[1] .. string.format('%06d', time[2]),
  now = time[1] * 1000 + math.floor(time[2] / 1000),
}
local found = redis.call('HGET', lock, 'mode')
if found ~= mode then
  local foreign = found ~= 'read' and found ~= 'write' and redis.call('EXISTS', lock) == 1
  return foreign and wrongKind(lock) or 0
end
endReads(lock, companion)
-- Who is on trial stands in the line still, at its head.
for _, owner in ipairs(redis.call('LRANGE', queue, 0, 999)) do
  if redis.call('HEXISTS', lock, owner) == 1 then
    takeOut(line, owner)
  end
end
redis.call('DEL', lock)
serveLine(line, {})
redis.pcall(publish, channel, message)
return 1
