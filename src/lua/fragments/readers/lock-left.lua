-- For how many ms a lock that had `left` of them is to last when somebody's time in it, `own`, is over; 0 when nobody reads.
-- Up to `few` fields all are asked, until one has as much. Of more of them only some, or each of thousands who go together
-- would ask all others: then it may last a twentieth longer than its longest read, 250 ms at most; and where who goes had
-- clearly less than the lock, so that it lasted for another, as long as before. So it does, too, where thousands of fields did
-- not show who reads: no script asks them all.
local function lockLeft(lock, companion, left, own, few, work)
  local enough, longest, from = redis.call('HLEN', lock) > few and math.max(left * 0.95, left - 250) or left, 0, '0'
  -- As long as a trial lasts it may have been for a read that was confirmed for less.
  local some = own < enough and enough < left and left > TRIAL and 1 or enough
  repeat
    local found = redis.call('HSCAN', lock, from, 'COUNT', 20)
    from, longest = found[1], math.max(longest, readsLeft(found[2], companion, some, work))
  until from == '0' or longest >= some and longest > 0 or work.looks <= 0
  if work.looks <= 0 then
    return math.max(longest, left < 0 and 30000 or left)
  end
  return longest >= some and longest > 0 and math.max(left, longest) or longest
end
