-- How many permits are left now in the window that all clients share; -1 if that takes a longer look, or the keys do not agree. Writes nothing.
local function leftNow(value, permits, rate, interval)
  local gone, long = membersAt(permits, 0, 100, serverNow() - interval)
  if redis.call('ZCOUNT', permits, '-inf', '+inf') == #gone / 2 then
    return rate
  end
  local left = whole(textOf(value))
  if not left or long or #gone >= 200 then
    return -1
  end
  for i = 1, #gone, 2 do left = left + grantSize(gone[i]) end
  return left <= rate and math.max(0, left) or -1
end
