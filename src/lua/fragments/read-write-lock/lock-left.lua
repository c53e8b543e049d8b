-- For how many ms a lock that had `left` of them is to last when somebody leaves who had `own`; 0 when nobody reads. Up to `few` fields
-- all are asked, until one has as much. Of more only some, or each of thousands who leave together would ask all others: it may then last
-- longer than its longest read, by a twentieth of its time, 250 ms at most.
local function lockLeft(lock, companion, left, own, few, work)
  local enough, longest, from = redis.call('HLEN', lock) > few and math.max(left * 0.95, left - 250) or left, 0, '0'
  -- Where who leaves had clearly less than the lock, it lasted for another: any read shows that. Not within the time of a trial, which
  -- it may have had for a read that was confirmed for less.
  local some = own < enough and enough < left and left > TRIAL and 1 or enough
  repeat
    local found
    found, from = fieldsAt(lock, from, 20)
    longest = math.max(longest, readsLeft(found, companion, some, work))
  until from == '0' or longest >= some and longest > 0 or work.looks <= 0
  -- Thousands of fields did not show who reads: it lasts as long as before.
  if work.looks <= 0 then
    return math.max(longest, left < 0 and 30000 or left)
  end
  return longest >= some and longest > 0 and math.max(left, longest) or longest
end
