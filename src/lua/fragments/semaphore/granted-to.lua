-- How many permits an owner has been granted on trial. Where the amounts were evicted its deadline says as much, up to 1,000.
local function grantedTo(line, owner)
  local known = redis.call('HGET', line.amounts, owner)
  if known then
    return math.max(whole(known) or 0, 0)
  end
  local mark = (tonumber(redis.call('ZSCORE', line.deadlines, owner)) or 0) % 1
  return mark > GRANTED and mark < UNCOUNTED and (mark - GRANTED) * GRANT_UNITS or 0
end
