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
