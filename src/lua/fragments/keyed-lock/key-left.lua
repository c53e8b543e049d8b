-- For how many ms its owner has this key of a group; 0 when it is another's, or over.
local function keyLeft(group, field, owner, now)
  if #owner >= LONGEST_NAME or redis.call('HGET', group, field) ~= owner then
    return 0
  end
  local ends = redis.call('HGET', group, field .. ':' .. owner .. ':expire_time')
  return math.max(0, (whole(ends) or 0) - now)
end
