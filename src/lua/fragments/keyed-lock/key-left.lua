-- For how many ms its owner has this key of a group; 0 when it is another's, or over.
local function keyLeft(group, field, owner, now)
  if #owner >= LONGEST_NAME or redis.call('HGET', group, field) ~= owner then
    return 0
  end
  local own = field .. ':' .. owner .. ':expire_time'
  -- No time is longer.
  local ends = redis.call('HSTRLEN', group, own) < 20 and redis.call('HGET', group, own)
  return math.max(0, (whole(ends) or 0) - now)
end
