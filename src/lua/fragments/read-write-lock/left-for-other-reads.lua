-- For how many ms a lock that had `left` of them must last when an owner leaves that had `own`; 0 if nobody reads any more. Up to `few`
-- fields, all are checked, until one has as much. Of more fields, only some are: otherwise each of thousands of owners that leave together
-- would check all the others. In that case the lock may outlast its longest read by a twentieth of its time, 250 ms at most.
local function leftForOtherReads(lock, companion, left, own, few, work)
  local enough, longest, from = redis.call('HLEN', lock) > few and math.max(left * 0.95, left - 250) or left, 0, '0'
  -- If the owner that leaves had clearly less than the lock, the lock lasted for another owner, and any read shows that. Not within the
  -- time of a trial, which the lock may have had for a read that was then confirmed for less.
  local some = own < enough and enough < left and left > TRIAL and 1 or enough
  repeat
    local found
    found, from = fieldsAt(lock, from, 20)
    longest = math.max(longest, longestRead(found, companion, some, work))
  until from == '0' or longest >= some and longest > 0 or work.looks <= 0
  -- Thousands of fields did not show who reads: the lock lasts as long as before.
  if work.looks <= 0 then
    return math.max(longest, left < 0 and 30000 or left)
  end
  return longest >= some and longest > 0 and math.max(left, longest) or longest
end
