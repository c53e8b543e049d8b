-- How many permits an owner has been granted on trial, from its amount and its deadline. If the amounts were evicted, the deadline says it,
-- up to 1,000. More than a call may ask for was written by another program.
local function grantsIn(amount, due)
  if amount then
    amount = whole(amount) or 0
    return amount > 0 and amount <= 2147483647 and amount or 0
  end
  local mark = (tonumber(due) or 0) % 1
  return mark > GRANTED and mark < UNCOUNTED and (mark - GRANTED) * GRANT_UNITS or 0
end
