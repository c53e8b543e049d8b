-- Releases the lock by force: all reads, or the write and the reads of its own owner. The next in the line enters.
-- KEYS lock, queue, deadlines
-- ARGV mode, message, companion, channel, grants, publish
-- returns integer 1 if it was held in this mode, 0 if not

-- Removes the keys of all reads. If there are thousands, some of them stay until their time is over: without a field in
-- the lock, a key means nothing.
local function endReads(lock, companion)
  local from, left, gone = '0', READS_LOOKED_AT, {}
  repeat
    local found
    found, from = fieldsAt(lock, from, 100)
    for i = 1, #found, 2 do
      local owner, level = found[i], levelOf(found[i + 1])
      left = left - 1 - math.floor((#owner + #found[i + 1]) / 500)
      while level > 0 and left > 0 and #owner < LONGEST_NAME and string.sub(owner, -6) ~= ':write' do
        gone[#gone + 1] = companion .. ':' .. owner .. ':rwlock_timeout:' .. level
        level, left = level - 1, left - 1
      end
    end
  until from == '0' or left <= 0
  for i = 1, #gone, 1000 do redis.call('UNLINK', unpack(gone, i, math.min(i + 999, #gone))) end
end

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
-- Owners on trial still stand in the line, at its head.
local some, gone, stay = placesAt(queue, 0, 500), {}, {}
local held = some[1] and redis.call('HMGET', lock, unpack(some))
for i = #some, 1, -1 do
  local to = held[i] and gone or stay
  to[#to + 1] = some[i]
end
if gone[1] then
  redis.call('ZREM', deadlines, unpack(gone))
  redis.call('LTRIM', queue, #some, -1)
  if stay[1] then redis.call('LPUSH', queue, unpack(stay)) end
end
redis.call('UNLINK', lock)
walkLine(line, {})
redis.pcall(publish, channel, message)
return 1
