-- Some locks that one owner holds at a time, each as `inspect` shows it. A long line takes its time, so at most 1,000 places are read in all. Writes nothing.
-- KEYS locks[1..]
--   locks: of each lock, its key, the queue, the deadlines, and the counter of its tokens; without a counter, its key again
-- returns list of each lock a list: the ms left as `inspect` has them, the holder, its count, the newest token, and the waiters with their
-- deadlines in turn, where an empty text stands for nothing; an empty list if the lock must be asked about alone

local budget, found = 1000, {}
for i = 1, #locks, 4 do
  local lock, one = locks[i], {}
  local holder, count = holderOf(lock)
  local token = locks[i + 3] ~= lock and redis.call('GET', locks[i + 3])
  local most = math.min(100, budget)
  if holder ~= nil and #(holder or '') < LONGEST_NAME and (not token or isToken(token)) and most > 0 then
    local places = placesAt(locks[i + 1], 0, most)
    budget = budget - #places
    if #places < most then
      one = { leftOf(lock), holder or '', count or '', token or '' }
      for _, owner in ipairs(places) do
        -- A holder on trial is still in the line, and what is longer than a wire name is another program's.
        if owner ~= holder and #owner < LONGEST_NAME then
          one[#one + 1], one[#one + 2] = owner, redis.call('ZSCORE', locks[i + 2], owner) or ''
        end
      end
    end
  end
  found[#found + 1] = one
end
return found
