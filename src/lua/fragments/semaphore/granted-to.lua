-- How many permits an owner has been granted on trial. Where the amounts were evicted its deadline says as much, up to 1,000. What is
-- more than a call may ask for was written by another program. `line.amount`: what is known.
local function grantedTo(line, owner)
  local known = redis.call('HGET', line.amounts, owner)
  line.amount = known
  if known then
    known = whole(known) or 0
    return known > 0 and known <= 2147483647 and known or 0
  end
  local mark = (tonumber(redis.call('ZSCORE', line.deadlines, owner)) or 0) % 1
  return mark > GRANTED and mark < UNCOUNTED and (mark - GRANTED) * GRANT_UNITS or 0
end
