-- The keys of all who read go. Where there are thousands some of them stay until their time is over: nobody reads by a key
-- alone.
local function endReads(lock, companion)
  local from, left = '0', 2000
  repeat
    local found = redis.call('HSCAN', lock, from, 'COUNT', 100)
    from = found[1]
    for i = 1, #found[2], 2 do
      local owner, level = found[2][i], countOf(found[2][i + 1])
      left = left - 1
      while level > 0 and left > 0 and string.sub(owner, -6) ~= ':write' do
        redis.call('DEL', companion .. ':' .. owner .. ':rwlock_timeout:' .. level)
        level, left = level - 1, left - 1
      end
    end
  until from == '0' or left <= 0
end
