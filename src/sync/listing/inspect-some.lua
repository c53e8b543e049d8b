-- Some locks that one owner holds at a time, each as `inspect` shows it. A long line takes its time, so at most 1,000 places are read in all. Writes nothing.
-- KEYS locks[1..]
--   locks: of each lock, its key, the queue, the deadlines, and the counter of its tokens; without a counter, its key again
-- returns string[] of each lock, in lines: the ms left as `inspect` has them, the holder, its count, the newest token, and the waiters with
-- their deadlines in turn; an empty line stands for nothing, and an empty text for a lock that must be asked about alone

local budget, found = 1000, {}
for i = 1, #locks, 4 do
  local lock, one, plain = locks[i], {}, true
  local holder, count = holderOf(lock)
  local token = locks[i + 3] ~= lock and redis.pcall('GETRANGE', locks[i + 3], 0, 31)
  local most = math.min(100, budget)
  local places = most > 0 and placesAt(locks[i + 1], 0, most) or {}
  budget = budget - #places
  if holder ~= nil and #(holder or '') < LONGEST_NAME and #places < most then
    one = { string.format('%.0f', leftOf(lock)), holder or '', count or '', isToken(token) and token or '' }
    for _, owner in ipairs(places) do
      -- A holder on trial is still in the line, and what is longer than a wire name is another program's.
      if owner ~= holder and #owner < LONGEST_NAME then
        one[#one + 1], one[#one + 2] = owner, redis.call('ZSCORE', locks[i + 2], owner) or ''
        plain = plain and not string.find(owner, '\n', 1, true)
      end
    end
    plain = plain and not string.find(holder or '', '\n', 1, true)
  end
  found[#found + 1] = plain and table.concat(one, '\n') or ''
end
return found
